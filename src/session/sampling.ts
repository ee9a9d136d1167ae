import { randomBytes } from "node:crypto";
import type { TurnRequest } from "../engine/endpoint.ts";
import { invalidRequest } from "../protocol/api-error.ts";
import type { ResponsesRequest } from "../protocol/responses-types.ts";
import type { TextModel } from "../text/text-types.ts";

/** Request over model default over neutral value; a seed is drawn when the client gave none. */
export function samplingOptions(
  request: ResponsesRequest,
  defaults: TextModel["samplingDefaults"],
): TurnRequest["sampling"] {
  return {
    temperature: request.temperature ?? defaults.temperature ?? 1,
    topP: request.topP ?? defaults.topP ?? 1,
    topK: request.topK ?? defaults.topK ?? 0,
    minP: request.minP ?? defaults.minP ?? 0,
    repetitionPenalty: request.repeatPenalty ?? 1,
    frequencyPenalty: request.frequencyPenalty ?? 0,
    presencePenalty: request.presencePenalty ?? 0,
    seed: request.seed ?? randomSeed(),
    ...(request.logitBias.size > 0 && { logitBias: biasArrays(request.logitBias) }),
  };
}

/** @throws {ApiError} for a token that the model does not have */
export function checkLogitBias({ logitBias }: Pick<ResponsesRequest, "logitBias">, vocab: number) {
  const unknown = [...logitBias.keys()].find((id) => id >= vocab);
  if (unknown === undefined) return;
  const field = `logit_bias.${unknown}`;
  const message = `${field} is no token, this model has the token ids 0 to ${vocab - 1}`;
  throw invalidRequest("invalid_value", message, field);
}

function biasArrays(logitBias: ReadonlyMap<number, number>) {
  return {
    tokens: Int32Array.from(logitBias.keys()),
    values: Float64Array.from(logitBias.values()),
  };
}

/** 53 random bits: every integer that a number holds exactly. */
function randomSeed(): number {
  const bytes = randomBytes(7);
  return (bytes.readUInt8(0) & 0x1f) * 2 ** 48 + bytes.readUIntBE(1, 6);
}
