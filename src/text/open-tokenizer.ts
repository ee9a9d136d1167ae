/**
 * Opens the tokenizer of a checkpoint: the native one, or for a tokenizer.json with steps that it
 * does not know the library, which is slow, so that is said.
 */

import type { NativeTokenizer } from "../native/addon-types.ts";
import { loadAddon } from "../native/load-addon.ts";
import { type CheckpointFiles, readJsonObject } from "./checkpoint-files.ts";
import { libraryDefinition } from "./library-definition.ts";
import { LibraryModelTokenizer } from "./library-tokenizer.ts";
import { NativeModelTokenizer } from "./native-tokenizer.ts";
import { checkpointIds, type LoadedTokenizer } from "./tokenizer-ids.ts";

/** @throws {Error} an engine error with code ERR_TOKENIZER_FORMAT or ERR_TOKENIZER_TYPE */
export function openGgufTokenizer(file: string): LoadedTokenizer {
  const native = openNative(file);
  const { bosId, addsBos, endIds } = native.facts;
  return new NativeModelTokenizer(native, { bosId, addsBos, endIds: [...endIds] });
}

/** @throws {Error} as above, or {TextModelError} */
export function openFolderTokenizer(folder: string, files: CheckpointFiles): LoadedTokenizer {
  let native: NativeTokenizer;
  try {
    native = openNative(folder);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    const json = readJsonObject(folder, "tokenizer.json");
    if (!json) throw error;
    warn(`the tokenizer runs in the JavaScript library, which is slow: ${error.message}`);
    return new LibraryModelTokenizer(libraryDefinition(json), files);
  }
  const { bosId } = native.facts;
  const ids = checkpointIds(files, bosId, (text) => native.findToken(text));
  return new NativeModelTokenizer(native, ids);
}

function openNative(path: string): NativeTokenizer {
  const native = loadAddon().openTokenizer(path);
  if (native.facts.warning !== undefined) warn(native.facts.warning);
  return native;
}

function isUnsupported(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "ERR_TOKENIZER_TYPE";
}

function warn(message: string): void {
  process.emitWarning(message, { code: "WARMLOOP_TOKENIZER" });
}
