/** The cache folder of one commit while files are downloaded into it, each verified on its own. */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { DownloadError } from "./download-error.ts";
import type { FetchOptions } from "./fetch-model.ts";
import type { FileDigest } from "./file-digest.ts";
import type { FileAddress, HubClient, HubFile } from "./hub-client.ts";
import { type DownloadOptions, downloadFromHub, STALL_TIMEOUT_MS } from "./hub-download.ts";
import { checkSpace, claimPart, finishPart, sizeOf } from "./part-file.ts";

export interface CommitAddress {
  readonly repo: string;
  readonly commit: string;
}

export class HubFolder {
  readonly #folder: string;
  readonly #client: HubClient;
  readonly #address: CommitAddress;

  constructor(folder: string, client: HubClient, address: CommitAddress) {
    this.#folder = folder;
    this.#client = client;
    this.#address = address;
  }

  /** Downloads those of `files` that are not there, in their order. */
  async fetchAll(files: readonly HubFile[], { progress, wait }: FetchOptions): Promise<void> {
    const missing = files.filter((file) => !existsSync(this.#pathOf(file)));
    const [first] = missing;
    if (first === undefined) return;
    for (const file of missing) await mkdir(path.dirname(this.#pathOf(file)), { recursive: true });
    const parts = missing.map((file) => ({ file, part: claimPart(this.#pathOf(file)) }));
    const totalBytes = missing.reduce((sum, { bytes }) => sum + bytes, 0);
    const startBytes = parts.reduce((sum, { part }) => sum + sizeOf(part), 0);
    await checkSpace(this.#folder, this.#address.repo, totalBytes - startBytes);

    const what =
      missing.length === 1 ? first.path : `${missing.length} files of ${this.#address.repo}`;
    progress.begin(`downloading ${what} from ${this.#client.host}`, totalBytes, startBytes);
    try {
      let doneBytes = startBytes;
      for (const { file, part } of parts) {
        const otherBytes = doneBytes - sizeOf(part);
        const onBytes = (bytes: number): void => progress.advance(otherBytes + bytes);
        await this.#fetch(file, part, { isKnownToAnswer: true, onBytes, wait });
        doneBytes = otherBytes + file.bytes;
      }
    } finally {
      progress.end();
    }
  }

  async readText(file: HubFile): Promise<string> {
    return readFile(this.#pathOf(file), "utf8");
  }

  async #fetch(file: HubFile, part: string, options: DownloadOptions): Promise<void> {
    const { repo, commit } = this.#address;
    const address = { repo, revision: commit, path: file.path };
    const digest = file.digest ?? (await this.#readDigest(address));
    const wanted = { ...address, bytes: file.bytes, digest };
    await downloadFromHub(this.#client, wanted, part, options);
    await finishPart(part, this.#pathOf(file), digest);
  }

  /** For a hub whose lists have no checksums: the one that it sends with the file. */
  async #readDigest(address: FileAddress): Promise<FileDigest> {
    const opened = await this.#client.openFile(address, 0, AbortSignal.timeout(STALL_TIMEOUT_MS));
    await opened.body.cancel();
    if (opened.digest !== undefined) return opened.digest;
    throw new DownloadError(
      "ERR_DOWNLOAD_ANSWER",
      `${this.#client.host} names no checksum for ${address.path} of ${address.repo}`,
    );
  }

  #pathOf({ path: file }: HubFile): string {
    return path.join(this.#folder, file);
  }
}
