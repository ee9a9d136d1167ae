/** The text-related JSON files of a checkpoint folder, read whole; a missing one is undefined. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { TextModelError } from "./text-errors.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export interface CheckpointFiles {
  readonly tokenizer: JsonObject | undefined;
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
    tokenizer: readJson(folder, "tokenizer.json"),
    tokenizerConfig: readJson(folder, "tokenizer_config.json"),
    specialTokensMap: readJson(folder, "special_tokens_map.json"),
    config: readJson(folder, "config.json"),
    generationConfig: readJson(folder, "generation_config.json"),
    chatTemplate: readOptional(folder, "chat_template.jinja"),
  };
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readJson(folder: string, name: string): JsonObject | undefined {
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
