import { randomBytes } from "node:crypto";
import type { TurnRequest } from "../engine/endpoint.ts";
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
  };
}

/** 53 random bits: every integer that a number holds exactly. */
function randomSeed(): number {
  const bytes = randomBytes(7);
  return (bytes.readUInt8(0) & 0x1f) * 2 ** 48 + bytes.readUIntBE(1, 6);
}
