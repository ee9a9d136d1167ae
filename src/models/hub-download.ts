/**
 * Downloads one file of a hub into a part file, continuing where the part ends. A body that is cut is
 * continued by a range request.
 */
import { open, writeFile } from "node:fs/promises";
import { formatBytes } from "../base/format.ts";
import { DownloadError, describeError } from "./download-error.ts";
import type { FileDigest } from "./file-digest.ts";
import type { HubClient, OpenedFile } from "./hub-client.ts";
import { isCommit } from "./hub-reference.ts";
import { sizeOf } from "./part-file.ts";

/** Time until the first answer of a hub that may not be reachable from here at all. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Silence after which a connection counts as cut. */
export const STALL_TIMEOUT_MS = 30_000;
/** Waits before the attempts that follow a cut; an attempt that brought bytes starts over. */
const RETRY_DELAYS_MS = [200, 1_000, 3_000, 10_000] as const;

export interface WantedFile {
  readonly repo: string;
  /** Where a commit, every answer has to be of it. */
  readonly revision: string;
  readonly path: string;
  readonly bytes: number;
  readonly digest: FileDigest;
}

export interface DownloadOptions {
  /** The hub has answered before: trouble is worth waiting for, and no reason to turn away. */
  readonly isKnownToAnswer: boolean;
  /** Bytes of the file that are there now. */
  readonly onBytes: (doneBytes: number) => void;
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * Ends when the part has all its bytes; whether they are the right ones is not known yet.
 * @throws {DownloadError} from the hub; errors of the local disk as they are
 */
export async function downloadFromHub(
  client: HubClient,
  wanted: WantedFile,
  part: string,
  options: DownloadOptions,
): Promise<void> {
  if (wanted.bytes === 0) await writeFile(part, "");
  let hasAnswered = options.isKnownToAnswer;
  let failures = 0;
  while (sizeOf(part) !== wanted.bytes) {
    const before = sizeOf(part);
    try {
      await continueDownload(client, wanted, part, hasAnswered, options.onBytes);
    } catch (error) {
      if (sizeOf(part) !== before) {
        hasAnswered = true;
        failures = 0;
      }
      const pauseMs = RETRY_DELAYS_MS[failures++];
      if (!hasAnswered || pauseMs === undefined || isPermanent(error)) {
        throw explain(error, client, wanted, part);
      }
      await options.wait(pauseMs);
    }
  }
}

/** Errors that asking again does not change: the hub's refusals and those of the local disk. */
function isPermanent(error: unknown): boolean {
  if (error instanceof DownloadError) return error.code !== "ERR_DOWNLOAD_NETWORK";
  return isDiskError(error);
}

const isDiskError = (error: unknown): boolean =>
  ["write", "open"].includes((error as NodeJS.ErrnoException).syscall ?? "");

function explain(
  error: unknown,
  client: HubClient,
  { path, bytes }: WantedFile,
  part: string,
): unknown {
  if (error instanceof DownloadError || isDiskError(error)) return error;
  const doneBytes = sizeOf(part);
  if (doneBytes === 0) {
    const why = `${client.host}: ${describeError(error)}`;
    return new DownloadError("ERR_DOWNLOAD_NETWORK", why, { cause: error });
  }
  return new DownloadError(
    "ERR_DOWNLOAD_TRUNCATED",
    `${client.host}: ${path} keeps ending early, ${formatBytes(doneBytes)} of ` +
      `${formatBytes(bytes)} are there (${describeError(error)}); start again to continue`,
    { cause: error },
  );
}

/** One request: appends to the part until the body ends or breaks. */
async function continueDownload(
  client: HubClient,
  wanted: WantedFile,
  part: string,
  hasAnswered: boolean,
  onBytes: (doneBytes: number) => void,
): Promise<void> {
  const silence = new AbortController();
  const expectWithin = (ms: number) => setTimeout(() => silence.abort(), ms);
  let timer = expectWithin(hasAnswered ? STALL_TIMEOUT_MS : CONNECT_TIMEOUT_MS);
  const onSign = (): void => {
    clearTimeout(timer);
    timer = expectWithin(STALL_TIMEOUT_MS);
  };
  try {
    const offset = sizeOf(part) > wanted.bytes ? 0 : sizeOf(part);
    const opened = await client.openFile(wanted, offset, silence.signal);
    onSign();
    checkAnswer(opened, wanted, offset, client.host);
    const doneBytes = await append(opened, part, (bytes) => {
      onSign();
      onBytes(bytes);
    });
    if (doneBytes !== wanted.bytes) throw new Error(`the answer ended after ${doneBytes} bytes`);
  } catch (error) {
    if (silence.signal.aborted) throw new Error("the server does not answer", { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Writes a body behind the bytes that are there; returns how many are there then. Each chunk is on the
 * disk before the next is asked for: what the part has after an error is what the next attempt goes by.
 */
async function append(
  { body, firstByte }: OpenedFile,
  part: string,
  onBytes: (doneBytes: number) => void,
): Promise<number> {
  const file = await open(part, firstByte === 0 ? "w" : "a");
  let doneBytes = firstByte;
  try {
    for await (const chunk of body) {
      await file.writeFile(chunk);
      doneBytes += chunk.length;
      onBytes(doneBytes);
    }
  } finally {
    await file.close();
  }
  return doneBytes;
}

/** Finds out before gigabytes were fetched that they would not be the wanted ones. */
function checkAnswer(
  { firstByte, totalBytes, digest, commit }: OpenedFile,
  { revision, path, bytes, digest: wanted }: WantedFile,
  offset: number,
  host: string,
): void {
  const refuse = (why: string): never => {
    throw new DownloadError("ERR_DOWNLOAD_ANSWER", `${host}, ${path}: ${why}`);
  };
  if (firstByte !== 0 && firstByte !== offset) {
    refuse(`asked for the bytes from ${offset} on, it sends those from ${firstByte} on`);
  }
  if (totalBytes !== undefined && totalBytes !== bytes) {
    refuse(`it has ${totalBytes} bytes there, wanted are ${bytes}`);
  }
  if (digest?.kind === wanted.kind && digest.hex !== wanted.hex) {
    refuse(`it has a file of ${digest.kind} ${digest.hex} there, wanted is ${wanted.hex}`);
  }
  if (commit !== undefined && isCommit(revision) && commit !== revision) {
    refuse(`it answers for commit ${commit}, asked for was ${revision}`);
  }
}
