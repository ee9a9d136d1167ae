/** What the answers of Chat Completions and Completions have in common. Pure. */
import type { ChatUsage } from "./chat-types.ts";
import type { OutputItem, Usage } from "./responses-types.ts";

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

export function textOf(output: readonly OutputItem[]): string {
  return output
    .flatMap((item) => (item.type === "message" ? item.content.map((part) => part.text) : []))
    .join("");
}
