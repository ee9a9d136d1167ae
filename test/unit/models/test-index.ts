/** A Python package index of our own on loopback: pages of links, and wheels with one file each. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { storedZip } from "./stored-zip.ts";

export interface TestPackage {
  /** Path and bytes of the file in the wheel. */
  readonly member: string;
  readonly bytes: Buffer;
}

export class TestIndex implements AsyncDisposable {
  /** Names of the packages whose wheels were fetched, in order. */
  readonly fetched: string[] = [];
  /** By name with dashes; all are of version 1.0.0. */
  readonly packages: Record<string, TestPackage>;
  readonly #server: Server;

  private constructor(packages: Record<string, TestPackage>) {
    this.packages = packages;
    this.#server = createServer((request, response) => {
      const [, folder = "", name = ""] = (request.url ?? "").split("/");
      const wheelName = `${name.replaceAll("-", "_")}-1.0.0-py3-none-any.whl`;
      const found = this.packages[name];
      if (found === undefined) {
        response.writeHead(404).end();
      } else if (folder === "simple") {
        response.writeHead(200, { "content-type": "text/html" });
        response.end(`<a href="/wheels/${name}/${wheelName}">${wheelName}</a>`);
      } else {
        this.fetched.push(name);
        response.end(makeWheel(name.replaceAll("-", "_"), found));
      }
    });
  }

  static async start(packages: Record<string, TestPackage>): Promise<TestIndex> {
    const index = new TestIndex(packages);
    await new Promise<void>((resolve) => index.#server.listen(0, "127.0.0.1", resolve));
    return index;
  }

  /** What makes pip use this index and no other. */
  get pipEnvironment(): Readonly<Record<string, string>> {
    const { port } = this.#server.address() as AddressInfo;
    return {
      PIP_INDEX_URL: `http://127.0.0.1:${port}/simple`,
      PIP_EXTRA_INDEX_URL: "",
      PIP_FIND_LINKS: "",
      PIP_CONFIG_FILE: "/dev/null",
      PIP_REQUIRE_HASHES: "0",
      NO_PROXY: "127.0.0.1",
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function makeWheel(name: string, { member, bytes }: TestPackage): Buffer {
  const about = `${name}-1.0.0.dist-info`;
  return storedZip({
    [member]: bytes,
    [`${about}/METADATA`]: Buffer.from(`Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0.0\n`),
    [`${about}/WHEEL`]: Buffer.from(
      "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    ),
    [`${about}/RECORD`]: Buffer.from(""),
  });
}
