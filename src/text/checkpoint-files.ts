/**
 * The small text-related files of a checkpoint folder, read whole; a missing one is undefined.
 * tokenizer.json is not among them: it has up to tens of megabytes and is read natively.
 */

import { readFileSync } from "node:fs";
import path from "node:path";
import { isJsonObject, type JsonObject } from "../base/json-object.ts";
import { TextModelError } from "./text-errors.ts";

export interface CheckpointFiles {
  readonly tokenizerConfig: JsonObject | undefined;
  readonly specialTokensMap: JsonObject | undefined;
  readonly config: JsonObject | undefined;
  readonly generationConfig: JsonObject | undefined;
  /** chat_template.jinja. */
  readonly chatTemplate: string | undefined;
}

/** @throws {TextModelError} ERR_TOKENIZER_FORMAT for a file that is there but not a JSON object */
export function readCheckpointFiles(folder: string): CheckpointFiles {
  return {
    tokenizerConfig: readJsonObject(folder, "tokenizer_config.json"),
    specialTokensMap: readJsonObject(folder, "special_tokens_map.json"),
    config: readJsonObject(folder, "config.json"),
    generationConfig: readJsonObject(folder, "generation_config.json"),
    chatTemplate: readOptional(folder, "chat_template.jinja"),
  };
}

/** @throws {TextModelError} ERR_TOKENIZER_FORMAT for a file that is there but not a JSON object */
export function readJsonObject(folder: string, name: string): JsonObject | undefined {
  const text = readOptional(folder, name);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TextModelError("ERR_TOKENIZER_FORMAT", `${name} is not JSON: ${String(error)}`);
  }
  if (!isJsonObject(value)) {
    throw new TextModelError("ERR_TOKENIZER_FORMAT", `${name} is not a JSON object`);
  }
  return value;
}

function readOptional(folder: string, name: string): string | undefined {
  try {
    return readFileSync(path.join(folder, name), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
