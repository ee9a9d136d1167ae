/**
 * The folder of an LMDB store, checked before LMDB sees it: LMDB maps its file into memory and
 * crashes on one that is not its own or was cut short. Made for its owner alone.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import path from "node:path";

export class StoreFolderError extends Error {}

const DATA_FILE = "data.mdb";
const FILES = [DATA_FILE, "lock.mdb"];

/* The two meta pages of LMDB's data version 2, little-endian:
 *   0 page header  24 magic  28 version  48 page size  144 last page  152 transaction id */
const PAGE_BYTES = 4096;
const MAGIC = 0xbeef_c0de;
const DATA_VERSION = 2;
const OFFSETS = { magic: 24, version: 28, pageBytes: 48, lastPage: 144, transaction: 152 };

/** @throws {StoreFolderError} it cannot be made, or its file is no whole LMDB file */
export function prepareStoreFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // LMDB would make them readable for others.
    for (const file of FILES) closeSync(openSync(path.join(folder, file), "a", 0o600));
  } catch (error) {
    throw new StoreFolderError(`cannot be written (${(error as Error).message})`);
  }
  checkDataFile(path.join(folder, DATA_FILE));
}

function checkDataFile(file: string): void {
  const descriptor = openSync(file, "r");
  try {
    const { size } = fstatSync(descriptor);
    if (size === 0) return;
    const pages = Buffer.alloc(2 * PAGE_BYTES);
    readSync(descriptor, pages, 0, pages.length, 0);
    const problem = problemOf(pages, size);
    if (problem !== undefined) throw new StoreFolderError(`its ${DATA_FILE} ${problem}`);
  } finally {
    closeSync(descriptor);
  }
}

function problemOf(pages: Buffer, size: number): string | undefined {
  const metas = [pages.subarray(0, PAGE_BYTES), pages.subarray(PAGE_BYTES)];
  const isOurs = (meta: Buffer): boolean =>
    meta.readUInt32LE(OFFSETS.magic) === MAGIC &&
    meta.readUInt32LE(OFFSETS.version) === DATA_VERSION &&
    meta.readUInt32LE(OFFSETS.pageBytes) === PAGE_BYTES;
  if (!metas.every(isOurs)) return "is no store of warmloop";
  const newest = metas.reduce((first, second) =>
    transactionOf(second) > transactionOf(first) ? second : first,
  );
  const numPages = Number(newest.readBigUInt64LE(OFFSETS.lastPage)) + 1;
  return size < numPages * PAGE_BYTES ? "was cut short" : undefined;
}

function transactionOf(meta: Buffer): bigint {
  return meta.readBigUInt64LE(OFFSETS.transaction);
}
