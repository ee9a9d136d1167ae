/**
 * BOS and the ends of a generation, which checkpoint folders declare in several files beside
 * tokenizer.json, and what both kinds of tokenizer (native and library) make of them.
 */

import { isJsonObject } from "../base/json-object.ts";
import type { CheckpointFiles } from "./checkpoint-files.ts";
import type { ControlLiterals } from "./control-literals.ts";
import type { Tokenizer } from "./text-types.ts";

export interface CheckpointIds {
  readonly bosId: number | undefined;
  /** A prompt starts with BOS. */
  readonly addsBos: boolean;
  /** Declared ends of a generation; the first one is the checkpoint's EOS. */
  readonly endIds: readonly number[];
}

/** A tokenizer as loading a text model needs it. */
export interface LoadedTokenizer extends Tokenizer {
  readonly controlLiterals: ControlLiterals;
  /** The checkpoint's own end; `eogIds` has more. */
  readonly eosId: number | undefined;
  /** Encoding puts a space in front of text, so decoding takes one away. */
  readonly stripsLeadingSpace: boolean;
  /** The token of this exact spelling. */
  findToken(text: string): number | undefined;
}

/** @param postProcessorBos what tokenizer.json itself puts in front of a text */
export function checkpointIds(
  files: CheckpointFiles,
  postProcessorBos: number | undefined,
  findToken: (text: string) => number | undefined,
): CheckpointIds {
  const config = files.tokenizerConfig ?? {};
  const idOf = (token: unknown): number | undefined => {
    const text = tokenContent(token);
    return text === undefined ? undefined : findToken(text);
  };
  const declared: readonly unknown[] = [
    files.generationConfig?.eos_token_id,
    files.config?.eos_token_id,
  ].flat();
  const named = [config.eos_token, files.specialTokensMap?.eos_token].map(idOf);
  return {
    bosId: postProcessorBos ?? idOf(config.bos_token),
    addsBos: postProcessorBos !== undefined || config.add_bos_token === true,
    endIds: [...declared, ...named].filter((id) => typeof id === "number"),
  };
}

/** Adds BOS where the model has one, unless the text itself starts with it. */
export function withBos(ids: Int32Array, { bosId, addsBos }: CheckpointIds): Int32Array {
  if (!addsBos || bosId === undefined || ids[0] === bosId) return ids;
  const all = new Int32Array(ids.length + 1);
  all[0] = bosId;
  all.set(ids, 1);
  return all;
}

/** A token in tokenizer_config.json is its text or an object with `content`. */
function tokenContent(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return isJsonObject(value) && typeof value.content === "string" ? value.content : undefined;
}
