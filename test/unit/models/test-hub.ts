/**
 * A model hub of our own on loopback: lists with checksums, files with ranges, large ones by a redirect
 * to another port as from a CDN, and the ways in which all of this fails.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TestRepo {
  readonly files: Readonly<Record<string, Buffer>>;
  /** What `main` names; any other revision than it and `main` is unknown. */
  readonly commit?: string;
  /** Readers need this token. */
  readonly token?: string;
}

export interface TestHubOptions {
  readonly repos: Readonly<Record<string, TestRepo>>;
  /** Fractions of the asked-for bytes after which the 1st, 2nd, ... body is cut. */
  readonly cutsAt?: readonly number[];
  /** Cut bodies end as if they were whole, instead of breaking. */
  readonly endsCleanly?: boolean;
  /** Answer everything with 200 and the whole file. */
  readonly ignoresRanges?: boolean;
  /** What is sent instead of a file's own bytes. */
  readonly sends?: Readonly<Record<string, Buffer>>;
  /** Lists have no checksums: only the answers for files do. */
  readonly listsNoDigests?: boolean;
  /** Changes the list before it is sent. */
  readonly editList?: (list: RevisionList) => unknown;
  /** Status of all answers. */
  readonly status?: number;
  /** Never answer; called for each request. */
  readonly hang?: () => void;
}

export interface RevisionList {
  sha: string;
  siblings: { rfilename: string; size: number; blobId?: string; lfs?: { sha256: string } }[];
}

export interface SeenRequest {
  readonly server: "hub" | "cdn";
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** The hub keeps large files apart from git, and has a sha256 of these only. */
const isLarge = (file: string): boolean => /\.(gguf|safetensors)$/.test(file);

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
export const gitBlobId = (bytes: Buffer): string =>
  createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");

export class TestHub implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  readonly #options: TestHubOptions;
  readonly #hub: Server;
  readonly #cdn: Server;
  #numBodies = 0;

  private constructor(options: TestHubOptions) {
    this.#options = options;
    this.#hub = createServer((request, response) => this.#answer("hub", request, response));
    this.#cdn = createServer((request, response) => this.#answer("cdn", request, response));
  }

  static async start(options: TestHubOptions): Promise<TestHub> {
    const hub = new TestHub(options);
    for (const server of [hub.#hub, hub.#cdn]) {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    }
    return hub;
  }

  /** One repository with one file. */
  static async withFile(
    repo: string,
    file: string,
    bytes: Buffer,
    options: Partial<TestHubOptions> = {},
  ): Promise<TestHub> {
    return TestHub.start({ repos: { [repo]: { files: { [file]: bytes } } }, ...options });
  }

  get url(): string {
    return urlOf(this.#hub);
  }

  /** `range` header of each request for bytes, in order. */
  get ranges(): readonly (string | undefined)[] {
    return this.requests.filter(({ server }) => server === "cdn").map(({ range }) => range);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#hub, this.#cdn]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  #answer(server: "hub" | "cdn", request: IncomingMessage, response: ServerResponse): void {
    const { range, authorization } = request.headers;
    const url = new URL(request.url ?? "", "http://hub");
    const path = decodeURIComponent(url.pathname);
    this.requests.push({ server, path, range, authorization });
    if (this.#options.hang !== undefined) {
      this.#options.hang();
      return;
    }
    if (this.#options.status !== undefined) {
      response.writeHead(this.#options.status).end();
      return;
    }
    const list = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/(.+)$/.exec(path);
    const file = /^\/([^/]+\/[^/]+)\/resolve\/(main|[0-9a-f]+)\/(.+)$/.exec(path);
    const repo = this.#options.repos[list?.[1] ?? file?.[1] ?? ""];
    if (repo === undefined) {
      response.writeHead(401, { "x-error-code": "RepoNotFound" }).end();
    } else if (server === "cdn") {
      this.#sendBytes(file?.[3] ?? "", repo, request, response);
    } else if (list !== null) {
      this.#sendList(repo, list[2] ?? "", response);
    } else if (repo.token !== undefined && authorization !== `Bearer ${repo.token}`) {
      const status = authorization === undefined ? 401 : 403;
      response.writeHead(status, { "x-error-code": "GatedRepo" }).end();
    } else {
      this.#sendFile(file?.[3] ?? "", repo, request, response);
    }
  }

  #sendList(
    { files, commit = COMMIT }: TestRepo,
    revision: string,
    response: ServerResponse,
  ): void {
    if (revision !== "main" && revision !== commit) {
      response.writeHead(404, { "x-error-code": "RevisionNotFound" }).end();
      return;
    }
    const digestsOf = (name: string, bytes: Buffer) => {
      const lfs = isLarge(name) ? { lfs: { sha256: sha256(bytes), pointerSize: 134 } } : {};
      return { blobId: gitBlobId(bytes), ...lfs };
    };
    const list: RevisionList = {
      sha: commit,
      siblings: Object.entries(files).map(([rfilename, bytes]) => ({
        rfilename,
        size: bytes.length,
        ...(this.#options.listsNoDigests ? {} : digestsOf(rfilename, bytes)),
      })),
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(this.#options.editList?.(list) ?? list));
  }

  /** From the hub itself, or from its CDN when it is large. */
  #sendFile(
    file: string,
    repo: TestRepo,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const bytes = repo.files[file];
    response.setHeader("x-repo-commit", repo.commit ?? COMMIT);
    if (bytes === undefined) {
      response.writeHead(404, { "x-error-code": "EntryNotFound" }).end();
    } else if (isLarge(file)) {
      response.setHeader("x-linked-etag", `"${sha256(bytes)}"`);
      response.writeHead(302, { location: `${urlOf(this.#cdn)}${request.url}` }).end();
    } else {
      this.#sendBytes(file, repo, request, response);
    }
  }

  #sendBytes(
    file: string,
    repo: TestRepo,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const { sends = {}, cutsAt = [], endsCleanly = false, ignoresRanges = false } = this.#options;
    const bytes = sends[file] ?? repo.files[file] ?? Buffer.alloc(0);
    const range = ignoresRanges ? null : /^bytes=(\d+)-/.exec(request.headers.range ?? "");
    const start = Number(range?.[1] ?? 0);
    if (range !== null) {
      response.setHeader("content-range", `bytes ${start}-${bytes.length - 1}/${bytes.length}`);
    }
    const cut = cutsAt[this.#numBodies++] ?? 1;
    const end = start + Math.floor((bytes.length - start) * cut);
    if (!endsCleanly) response.setHeader("content-length", bytes.length - start);
    response.writeHead(range === null ? 200 : 206);
    if (cut === 1 || endsCleanly) response.end(bytes.subarray(start, end));
    else response.write(bytes.subarray(start, end), () => response.destroy());
  }
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
