/**
 * Fields of the Chat Completions and Completions APIs that change the answer and are not built: 400
 * `unsupported_parameter` when they ask for something. Fields that cannot change it are ignored.
 */
import type { FieldReader } from "./field-reader.ts";

export function refuseSeveralChoices(body: FieldReader, name: "n" | "best_of"): void {
  if ((body.integer(name, { min: 1, max: 128 }) ?? 1) > 1) {
    throw body.unsupported(name, "one choice is made per prompt");
  }
}

export function refuseLogitBias(body: FieldReader): void {
  const bias = body.object("logit_bias") === undefined ? {} : body.value("logit_bias");
  if (Object.keys(bias as object).length > 0) {
    throw body.unsupported("logit_bias", "logits are not biased per token");
  }
}

export function refuseLogprobs(body: FieldReader, name: string): never {
  throw body.unsupported(name, "log probabilities are not reported");
}
