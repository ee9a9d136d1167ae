/**
 * The key of sealed texts, in the folder of the store: what clients keep of one process is opened by the
 * next, and by others on the same folder. The file holds the key and its SHA-256.
 */
import { createHash, randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SEALING_KEY_BYTES } from "../sealed-texts.ts";
import { StoreFolderError } from "./store-folder.ts";

const FILE = "sealing.key";

/**
 * Makes one where there is none.
 * @throws {StoreFolderError} ERR_SEALING_KEY_DAMAGED
 */
export function openSealingKey(folder: string): Buffer {
  const file = path.join(folder, FILE);
  const bytes = readOrUndefined(file) ?? createKeyFile(file);
  const key = bytes.subarray(0, SEALING_KEY_BYTES);
  if (bytes.subarray(SEALING_KEY_BYTES).equals(digestOf(key))) return key;
  throw new StoreFolderError(
    `ERR_SEALING_KEY_DAMAGED: its ${FILE} (${bytes.byteLength} bytes) is not as it was written; ` +
      "delete it to have a new one, with which reasoning that clients kept is not opened",
  );
}

/** Appears whole or not at all, and only once: of two servers that start together, one writes it. */
function createKeyFile(file: string): Buffer {
  const key = randomBytes(SEALING_KEY_BYTES);
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  writeFileSync(draft, Buffer.concat([key, digestOf(key)]), { mode: 0o600, flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file);
}

function readOrUndefined(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function digestOf(key: Buffer): Buffer {
  return createHash("sha256").update(key).digest();
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
