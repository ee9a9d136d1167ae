/**
 * Body of `POST /v1/completions`: unknown JSON -> prompts and the request that is run for each.
 * Prompts are not templated: what the client sends is what the model reads. Pure.
 */
import type { CompletionPrompt, CompletionRequest } from "./completion-types.ts";
import { FieldReader, invalidType } from "./field-reader.ts";
import { parseResponseFormat } from "./parse-format.ts";
import { parseSampling } from "./parse-sampling.ts";
import { refuseLogitBias, refuseLogprobs, refuseSeveralChoices } from "./refused-fields.ts";
import { checkTextSize, MAX_PROMPTS } from "./request-limits.ts";

const DEFAULT_MAX_TOKENS = 16; // the API's own

/** @throws {ApiError} 400 with the field's path */
export function parseCompletionRequest(value: unknown): CompletionRequest {
  const body = new FieldReader(value, "");
  refuseUnsupported(body);
  const maxTokens = body.integer("max_tokens", { min: 0, max: Number.MAX_SAFE_INTEGER });
  const maxOutputTokens = maxTokens ?? DEFAULT_MAX_TOKENS;
  return {
    prompts: parsePrompts(body),
    request: {
      model: body.requiredString("model"),
      input: [],
      inputItems: [],
      instructions: null,
      previousResponseId: null,
      callableTools: [],
      tools: [],
      toolChoice: { mode: "none" },
      parallelToolCalls: true,
      textFormat: parseResponseFormat(body),
      reasoningEffort: undefined,
      includesEncryptedReasoning: false,
      maxOutputTokens,
      ...parseSampling(body),
      store: false,
      stream: body.boolean("stream") ?? false,
      generate: maxOutputTokens > 0,
      metadata: {},
      echo: {},
    },
    echo: body.boolean("echo") ?? false,
    includeUsage: body.object("stream_options")?.boolean("include_usage") ?? false,
  };
}

/** A text, a list of texts, token ids, or a list of those. */
function parsePrompts(body: FieldReader): readonly CompletionPrompt[] {
  const value = body.value("prompt");
  if (value === undefined) return body.missing("prompt");
  const parseSpecial = body.boolean("parse_special") ?? false;
  if (!Array.isArray(value) || typeof value[0] === "number") {
    return [parsePrompt(value, "prompt", parseSpecial)];
  }
  const prompts: readonly unknown[] = value;
  if (prompts.length === 0) throw body.invalid("prompt", "must not be empty");
  if (prompts.length > MAX_PROMPTS) {
    throw body.invalid("prompt", `has ${prompts.length} prompts, at most ${MAX_PROMPTS}`);
  }
  return prompts.map((prompt, index) => parsePrompt(prompt, `prompt[${index}]`, parseSpecial));
}

function parsePrompt(value: unknown, path: string, parseSpecial: boolean): CompletionPrompt {
  if (typeof value === "string") return { path, text: checkTextSize(value, path), parseSpecial };
  if (!Array.isArray(value)) throw invalidType(path, "a string or an array of token ids", value);
  const ids: readonly unknown[] = value;
  const tokenIds = ids.map((id, index) => {
    if (Number.isInteger(id)) return id as number;
    throw invalidType(`${path}[${index}]`, "a token id, a whole number", id);
  });
  return { path, tokenIds };
}

function refuseUnsupported(body: FieldReader): void {
  refuseSeveralChoices(body, "n");
  refuseSeveralChoices(body, "best_of");
  refuseLogitBias(body);
  if (body.has("logprobs")) refuseLogprobs(body, "logprobs");
  if ((body.string("suffix") ?? "") !== "") {
    throw body.unsupported("suffix", "text is only continued at its end");
  }
}
