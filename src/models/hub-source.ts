/**
 * Downloads one file from a model hub into a part file, continuing where the part ends. A body that
 * is cut is continued by a range request; a hub that cannot be reached gives way to the next source.
 */
import { createWriteStream, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fileDownloadInfo } from "@huggingface/hub";
import type { HubSource, ManifestModel } from "./manifest.ts";
import type { Progress } from "./progress.ts";
import { describeError, SourceError } from "./source-error.ts";

const CONNECT_TIMEOUT_MS = 5_000;
/** Silence after which a connection counts as cut. */
const STALL_TIMEOUT_MS = 30_000;
/** Waits before the attempts that follow a cut; an attempt that brought bytes starts over. */
const RETRY_DELAYS_MS = [200, 1_000, 3_000, 10_000] as const;

/** @throws {SourceError} */
export async function downloadFromHub(
  source: HubSource,
  model: ManifestModel,
  part: string,
  hubUrl: string,
  progress: Progress,
): Promise<void> {
  progress.begin(`downloading ${model.file} from ${new URL(hubUrl).host}`, model.bytes, size(part));
  try {
    let hasProgressed = false;
    let failures = 0;
    while (size(part) !== model.bytes) {
      const before = size(part);
      try {
        await continueDownload(source, model, part, hubUrl, progress);
      } catch (error) {
        if (size(part) !== before) {
          hasProgressed = true;
          failures = 0;
        }
        const wait = RETRY_DELAYS_MS[failures++];
        if (!hasProgressed || wait === undefined || isPermanent(error)) throw error;
        await delay(wait);
      }
    }
  } catch (error) {
    if (isPermanent(error)) throw error;
    throw new SourceError(`${hubUrl}: ${describeError(error)}`, { cause: error });
  } finally {
    progress.end();
  }
}

const size = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Errors that asking again does not change: the hub's refusals and those of the local disk. */
function isPermanent(error: unknown): boolean {
  return error instanceof SourceError || (error as NodeJS.ErrnoException).syscall === "write";
}

/** One request: appends to the part until the body ends or breaks. */
async function continueDownload(
  source: HubSource,
  model: ManifestModel,
  part: string,
  hubUrl: string,
  progress: Progress,
): Promise<void> {
  const offset = size(part) > model.bytes ? 0 : size(part);
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), CONNECT_TIMEOUT_MS);
  const expectBytes = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), STALL_TIMEOUT_MS);
  };
  try {
    const { response, totalBytes } = await openRange(source, hubUrl, offset, silence.signal);
    if (totalBytes !== model.bytes) {
      throw new SourceError(
        `${hubUrl} has ${totalBytes} bytes under ${source.path}, the manifest says ${model.bytes}`,
      );
    }
    expectBytes();
    let doneBytes = response.status === 206 ? offset : 0; // 200: the server starts from the beginning
    const flags = doneBytes === 0 ? "w" : "a";
    await pipeline(
      Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]),
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          expectBytes();
          doneBytes += chunk.length;
          progress.advance(doneBytes);
          yield chunk;
        }
      },
      createWriteStream(part, { flags }),
    );
  } catch (error) {
    if (silence.signal.aborted) throw new Error("the server does not answer", { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Asks the hub library about the file. It needs the headers of one ranged request; that request
 * asks for the bytes from `offset` on, so that the same answer brings the body too.
 */
async function openRange(
  source: HubSource,
  hubUrl: string,
  offset: number,
  signal: AbortSignal,
): Promise<{ response: Response; totalBytes: number }> {
  let response: Response | undefined;
  const fetchFromOffset: typeof fetch = async (url, init) => {
    const headers = { ...(init?.headers as object), Range: `bytes=${offset}-`, Accept: "*/*" };
    response = await fetch(url, { ...init, headers, signal });
    return response.ok ? headersWithRange(response) : response;
  };
  const { repo, revision, path } = source;
  let info: Awaited<ReturnType<typeof fileDownloadInfo>>;
  try {
    info = await fileDownloadInfo({ repo, revision, path, hubUrl, fetch: fetchFromOffset });
  } catch (error) {
    if (response === undefined) throw error; // no answer: a later attempt may get one
    throw new SourceError(`${hubUrl} refused ${repo}/${path}: ${describeError(error)}`);
  }
  if (info === null || response === undefined) {
    throw new SourceError(`${hubUrl} has no ${path} in ${repo}`);
  }
  return { response, totalBytes: info.size };
}

/** What the library reads of an answer; one without range support has no content-range or etag. */
function headersWithRange(response: Response): Response {
  const headers = new Headers(response.headers);
  if (!headers.has("etag")) headers.set("etag", "none");
  if (response.status === 200) {
    headers.set("content-range", `bytes */${headers.get("content-length")}`);
  }
  return new Response(null, { status: response.status, headers });
}
