/** A model hub of our own on loopback: one file, ranges, and bodies that break when told to. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TinyHubOptions {
  readonly body: Buffer;
  /** Fractions of the file after which the 1st, 2nd, ... answer is cut. */
  readonly cutsAt?: readonly number[];
  /** Answer everything with 200 and the whole file. */
  readonly ignoresRanges?: boolean;
  /** Never answer; called for each request. */
  readonly hang?: () => void;
}

export class TinyHub implements AsyncDisposable {
  readonly url: string;
  /** `range` header of each request, in order. */
  readonly ranges: (string | undefined)[] = [];
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(options: TinyHubOptions): Promise<TinyHub> {
    const server = createServer((request, response) => {
      hub.ranges.push(request.headers.range);
      answer(request, response, options, hub.ranges.length - 1);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const hub = new TinyHub(`http://127.0.0.1:${port}`, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return hub;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { body, cutsAt = [], ignoresRanges = false, hang }: TinyHubOptions,
  index: number,
): void {
  if (hang !== undefined) {
    hang();
    return;
  }
  if (
    !/\/resolve\/[^/]+\/[^/]+\.gguf$/.test(request.url ?? "") ||
    request.url?.includes("absent")
  ) {
    response.writeHead(404).end();
    return;
  }
  const range = ignoresRanges ? null : /^bytes=(\d+)-/.exec(request.headers.range ?? "");
  const start = Number(range?.[1] ?? 0);
  response.writeHead(range === null ? 200 : 206, {
    "content-length": body.length - start,
    etag: '"tiny"',
    ...(range === null
      ? {}
      : { "content-range": `bytes ${start}-${body.length - 1}/${body.length}` }),
  });
  const cut = cutsAt[index];
  if (cut === undefined) {
    response.end(body.subarray(start));
    return;
  }
  const end = start + Math.floor((body.length - start) * cut);
  response.write(body.subarray(start, end), () => response.destroy());
}
