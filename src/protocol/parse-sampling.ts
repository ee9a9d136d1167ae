/** Sampling and stop fields, shared by Responses and Chat Completions. */
import { type FieldReader, invalidType, quote } from "./field-reader.ts";
import { MAX_STOP_STRINGS, checkTextSize } from "./request-limits.ts";
import type { ResponsesRequest } from "./responses-types.ts";

export type SamplingFields = Pick<
  ResponsesRequest,
  | "temperature"
  | "topP"
  | "topK"
  | "minP"
  | "repeatPenalty"
  | "frequencyPenalty"
  | "presencePenalty"
  | "seed"
  | "stop"
  | "logitBias"
>;

/** More is no preference for tokens but another model. */
const MAX_LOGIT_BIASES = 1024;
/** Ten digits are more than any vocabulary has. */
const TOKEN_ID = /^\d{1,10}$/;
/** Any larger cutoff than a vocabulary means "off" already. */
const MAX_TOP_K = 2 ** 31 - 1;
/** Divides logits; beyond this every repeated token is out anyway. */
const MAX_REPEAT_PENALTY = 100;

export function parseSampling(body: FieldReader): SamplingFields {
  return {
    temperature: body.number("temperature", { min: 0, max: 2 }),
    topP: body.number("top_p", { min: 0, max: 1 }),
    topK: body.integer("top_k", { min: 0, max: MAX_TOP_K }),
    minP: body.number("min_p", { min: 0, max: 1 }),
    repeatPenalty: parseRepeatPenalty(body),
    frequencyPenalty: body.number("frequency_penalty", { min: -2, max: 2 }),
    presencePenalty: body.number("presence_penalty", { min: -2, max: 2 }),
    seed: body.integer("seed", { min: 0, max: Number.MAX_SAFE_INTEGER }),
    stop: parseStop(body),
    logitBias: parseLogitBias(body),
  };
}

/** Keys are token ids: whole numbers as strings. */
function parseLogitBias(body: FieldReader): ReadonlyMap<number, number> {
  const biases = body.object("logit_bias");
  if (biases === undefined) return new Map();
  const keys = Object.keys(body.value("logit_bias") as object);
  if (keys.length > MAX_LOGIT_BIASES) {
    throw body.invalid("logit_bias", `has ${keys.length} tokens, at most ${MAX_LOGIT_BIASES}`);
  }
  return new Map(
    keys.map((key) => {
      if (!TOKEN_ID.test(key)) throw body.invalid("logit_bias", `has no token id: ${quote(key)}`);
      return [Number(key), biases.number(key, { min: -100, max: 100 }) ?? 0];
    }),
  );
}

function parseRepeatPenalty(body: FieldReader): number | undefined {
  const penalty = body.number("repeat_penalty", { min: 0, max: MAX_REPEAT_PENALTY });
  if (penalty === 0) throw body.invalid("repeat_penalty", "must be greater than 0");
  return penalty;
}

function parseStop(body: FieldReader): readonly string[] {
  const value = body.value("stop");
  if (value === undefined) return [];
  const path = body.pathOf("stop");
  const strings = Array.isArray(value) ? value : [value];
  if (strings.length > MAX_STOP_STRINGS) {
    throw body.invalid("stop", `has ${strings.length} strings, at most ${MAX_STOP_STRINGS}`);
  }
  return strings.map((text: unknown, index) => {
    const name = Array.isArray(value) ? `stop[${index}]` : "stop";
    if (typeof text !== "string") throw invalidType(path, "a string or an array of strings", value);
    if (text === "") throw body.invalid(name, "must not be empty");
    return checkTextSize(text, body.pathOf(name));
  });
}
