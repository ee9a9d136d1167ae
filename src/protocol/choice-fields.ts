/** What the answers of Chat Completions and Completions have in common. Pure. */
import type { ChatUsage } from "./chat-types.ts";
import type { OutputItem, ResponseObject, TokenLogprob, Usage } from "./responses-types.ts";

/** Clients only compare it between answers; sampling here depends on the model alone. */
export const SYSTEM_FINGERPRINT = "fp_warmloop";

export function toChatUsage(usage: Usage | null): ChatUsage | null {
  if (usage === null) return null;
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens: usage.input_tokens_details.cached_tokens },
    completion_tokens_details: { reasoning_tokens: usage.output_tokens_details.reasoning_tokens },
  };
}

/**
 * Of all choices together.
 * @param responses the choices of the first prompt, of the second one, ...; prompts count once
 */
export function usageOfChoices(
  responses: readonly ResponseObject[],
  numPerPrompt: number,
): ChatUsage {
  const usages = responses.map(({ usage }) => toChatUsage(usage) ?? NO_USAGE);
  const prompts = usages.filter((_, index) => index % numPerPrompt === 0);
  const numPromptTokens = sum(prompts, (usage) => usage.prompt_tokens);
  const numCompletionTokens = sum(usages, (usage) => usage.completion_tokens);
  return {
    prompt_tokens: numPromptTokens,
    completion_tokens: numCompletionTokens,
    total_tokens: numPromptTokens + numCompletionTokens,
    prompt_tokens_details: {
      cached_tokens: sum(prompts, (usage) => usage.prompt_tokens_details.cached_tokens),
    },
    completion_tokens_details: {
      reasoning_tokens: sum(usages, (usage) => usage.completion_tokens_details.reasoning_tokens),
    },
  };
}

const NO_USAGE: ChatUsage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

function sum(usages: readonly ChatUsage[], of: (usage: ChatUsage) => number): number {
  return usages.reduce((total, usage) => total + of(usage), 0);
}

export function logprobsOf(output: readonly OutputItem[]): readonly TokenLogprob[] {
  return output.flatMap((item) =>
    item.type === "message" ? item.content.flatMap((part) => part.logprobs) : [],
  );
}

export function textOf(output: readonly OutputItem[]): string {
  return output
    .flatMap((item) => (item.type === "message" ? item.content.map((part) => part.text) : []))
    .join("");
}
