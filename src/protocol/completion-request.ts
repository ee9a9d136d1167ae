/**
 * Body of `POST /v1/completions`: unknown JSON -> prompts and the request that is run for each.
 * Prompts are not templated: what the client sends is what the model reads. Pure.
 */
import type { CompletionPrompt, CompletionRequest } from "./completion-types.ts";
import { FieldReader, invalidType } from "./field-reader.ts";
import { parseSeeds } from "./parse-choices.ts";
import { parseResponseFormat } from "./parse-format.ts";
import { parseSampling } from "./parse-sampling.ts";
import { checkTextSize, MAX_RUNS } from "./request-limits.ts";
import { NO_SENT_ITEMS } from "./sent-items.ts";

const DEFAULT_MAX_TOKENS = 16; // the API's own
const MAX_TOP_LOGPROBS = 5; // the API's own, too

/** @throws {ApiError} 400 with the field's path */
export function parseCompletionRequest(value: unknown): CompletionRequest {
  const body = new FieldReader(value, "");
  refuseUnsupported(body);
  const maxTokens = body.integer("max_tokens", { min: 0, max: Number.MAX_SAFE_INTEGER });
  const maxOutputTokens = maxTokens ?? DEFAULT_MAX_TOKENS;
  const sampling = parseSampling(body);
  const seeds = parseSeeds(body, sampling.seed);
  refuseOtherChoices(body, seeds.length);
  return {
    prompts: parsePrompts(body, Math.floor(MAX_RUNS / seeds.length)),
    seeds,
    request: {
      model: body.requiredString("model"),
      input: [],
      inputItems: NO_SENT_ITEMS,
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
      ...sampling,
      topLogprobs: body.integer("logprobs", { min: 0, max: MAX_TOP_LOGPROBS }),
      store: false,
      compacts: false,
      compactThreshold: undefined,
      truncation: "disabled",
      background: false,
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
function parsePrompts(body: FieldReader, maxPrompts: number): readonly CompletionPrompt[] {
  const value = body.value("prompt");
  if (value === undefined) return body.missing("prompt");
  const parseSpecial = body.boolean("parse_special") ?? false;
  if (!Array.isArray(value) || typeof value[0] === "number") {
    return [parsePrompt(value, "prompt", parseSpecial)];
  }
  const prompts: readonly unknown[] = value;
  if (prompts.length === 0) throw body.invalid("prompt", "must not be empty");
  if (prompts.length > maxPrompts) {
    throw body.invalid("prompt", `has ${prompts.length} prompts, at most ${maxPrompts}`);
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

/** Choices are not ranked: what is made is returned. */
function refuseOtherChoices(body: FieldReader, numChoices: number): void {
  const bestOf = body.integer("best_of", { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? numChoices;
  if (bestOf === numChoices) return;
  throw body.unsupported(
    "best_of",
    `all choices are returned, so it must be n, here ${numChoices}`,
  );
}

function refuseUnsupported(body: FieldReader): void {
  if ((body.string("suffix") ?? "") !== "") {
    throw body.unsupported("suffix", "text is only continued at its end");
  }
}
