/**
 * One model hub over HTTP: what a repository holds at a revision, and the bytes of one file from an
 * offset on. Redirects are followed here and not by `fetch`: only the hub's own answer names commit and
 * checksum, and the token goes to the hub's own origin and nowhere else. Writes no file.
 */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { DownloadError, describeError } from "./download-error.ts";
import { digestOfEtag, type FileDigest } from "./file-digest.ts";
import { isCommit, isPathInRepo } from "./hub-reference.ts";

export interface HubAddress {
  /** Without a slash at its end; may have a path. */
  readonly url: string;
  readonly token?: string | undefined;
}

export interface HubFile {
  readonly path: string;
  readonly bytes: number;
  readonly digest?: FileDigest;
}

export interface HubRevision {
  readonly commit: string;
  readonly files: readonly HubFile[];
}

export interface FileAddress {
  readonly repo: string;
  readonly revision: string;
  readonly path: string;
}

export interface OpenedFile {
  readonly body: ReadableStream<Uint8Array>;
  /** Place of the body's first byte in the file. */
  readonly firstByte: number;
  /** Bytes of the whole file; undefined when the answer does not say. */
  readonly totalBytes: number | undefined;
  /** What the hub says of the file in the answer's headers. */
  readonly digest: FileDigest | undefined;
  readonly commit: string | undefined;
}

/** The parts of `/api/models/REPO/revision/REV?blobs=true` that are read. */
const RevisionSchema = Type.Object({
  sha: Type.String(),
  siblings: Type.Array(
    Type.Object({
      rfilename: Type.String(),
      size: Type.Integer({ minimum: 0 }),
      blobId: Type.Optional(Type.String()),
      lfs: Type.Optional(
        Type.Union([
          Type.Null(),
          Type.Object({ sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }) }),
        ]),
      ),
    }),
  ),
});
type Sibling = Static<typeof RevisionSchema>["siblings"][number];

const MAX_REDIRECTS = 5;

export class HubClient {
  readonly #url: string;
  readonly #token: string | undefined;

  constructor({ url, token }: HubAddress) {
    this.#url = url;
    this.#token = token;
  }

  /** Name for messages. */
  get host(): string {
    return new URL(this.#url).host;
  }

  /** @throws {DownloadError} */
  async readRevision(repo: string, revision: string, signal: AbortSignal): Promise<HubRevision> {
    const url = `${this.#url}/api/models/${repo}/revision/${encodeURIComponent(revision)}?blobs=true`;
    const what = `${repo} at ${revision}`;
    const { response } = await this.#get(url, {}, signal);
    if (!response.ok) throw await this.#refusal(response, repo, what);
    const answer: unknown = await response.json().catch((cause: unknown) => {
      throw this.#unusable(what, describeError(cause));
    });
    if (!Value.Check(RevisionSchema, answer) || !isCommit(answer.sha)) {
      throw this.#unusable(what, "no commit and files in it");
    }
    const leaving = answer.siblings.find(({ rfilename }) => !isPathInRepo(rfilename));
    if (leaving !== undefined) {
      throw this.#unusable(what, `a file name leaves the repository: ${leaving.rfilename}`);
    }
    return { commit: answer.sha, files: answer.siblings.map(toHubFile) };
  }

  /** @throws {DownloadError} for a refusal; what `fetch` throws when there is no answer */
  async openFile(file: FileAddress, offset: number, signal: AbortSignal): Promise<OpenedFile> {
    const range: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
    const { response, hubHeaders } = await this.#get(this.#urlOf(file), range, signal);
    if (!response.ok) throw await this.#refusal(response, file.repo, `${file.repo}/${file.path}`);
    if (response.body === null) throw this.#unusable(file.path, "an answer without a body");
    return {
      body: response.body,
      ...placeOf(response),
      // Not `etag`: mirrors put digests of other kinds there.
      digest: digestOfEtag(hubHeaders.get("x-linked-etag")),
      commit: hubHeaders.get("x-repo-commit") ?? undefined,
    };
  }

  #urlOf({ repo, revision, path }: FileAddress): string {
    const escaped = path.split("/").map(encodeURIComponent).join("/");
    return `${this.#url}/${repo}/resolve/${encodeURIComponent(revision)}/${escaped}`;
  }

  /** The last answer of a chain of redirects, and the headers of the first. */
  async #get(
    url: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ response: Response; hubHeaders: Headers }> {
    const hub = new URL(this.#url);
    let hubHeaders: Headers | undefined;
    let next = new URL(url);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const isHub = next.origin === hub.origin;
      const authorization = isHub && this.#token && { authorization: `Bearer ${this.#token}` };
      const response = await fetch(next, {
        // A compressed body would have neither the file's length nor its offsets.
        headers: { ...headers, "accept-encoding": "identity", ...authorization },
        redirect: "manual",
        signal,
      });
      const location = response.headers.get("location");
      if (isHub) hubHeaders = response.headers;
      if (response.status < 300 || response.status >= 400 || location === null) {
        return { response, hubHeaders: hubHeaders ?? response.headers };
      }
      await response.body?.cancel();
      next = new URL(location, next);
    }
    throw this.#unusable(url, "too many redirects");
  }

  /** What a refusing answer means, for a person. */
  async #refusal(response: Response, repo: string, what: string): Promise<DownloadError> {
    await response.body?.cancel();
    const { status } = response;
    const error = response.headers.get("x-error-code");
    if (status === 404 || error === "RepoNotFound") {
      const hint = this.#token === undefined ? "; a private one needs HF_TOKEN" : "";
      return new DownloadError("ERR_DOWNLOAD_NOT_FOUND", `${this.host} has no ${what}${hint}`);
    }
    if (status === 401 || status === 403) {
      const account =
        this.#token === undefined
          ? "set HF_TOKEN to an access token of your account"
          : "use an HF_TOKEN whose account has accepted them";
      return new DownloadError(
        "ERR_DOWNLOAD_GATED",
        `${this.host} gives ${what} only to accounts that may read it (${status}): ` +
          `accept the terms on ${this.#url}/${repo} and ${account}`,
      );
    }
    const isPassing = status === 429 || status >= 500;
    const code = isPassing ? "ERR_DOWNLOAD_NETWORK" : "ERR_DOWNLOAD_ANSWER";
    return new DownloadError(code, `${this.host} answers ${status} for ${what}`);
  }

  #unusable(what: string, why: string): DownloadError {
    return new DownloadError("ERR_DOWNLOAD_ANSWER", `${this.host}, ${what}: ${why}`);
  }
}

function toHubFile({ rfilename, size, blobId, lfs }: Sibling): HubFile {
  const digest: FileDigest | undefined = lfs
    ? { kind: "sha256", hex: lfs.sha256 }
    : digestOfEtag(blobId ?? null);
  return { path: rfilename, bytes: size, ...(digest && { digest }) };
}

/** 206 says which part of the file it is; 200 is all of it, whatever was asked for. */
function placeOf({ status, headers }: Response): Pick<OpenedFile, "firstByte" | "totalBytes"> {
  if (status !== 206) {
    const length = headers.get("content-length");
    return { firstByte: 0, totalBytes: length === null ? undefined : Number(length) };
  }
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range") ?? "");
  return {
    firstByte: Number(range?.[1]), // NaN, which no offset equals, for a header that says nothing
    totalBytes: range?.[2] === undefined || range[2] === "*" ? undefined : Number(range[2]),
  };
}
