/** Binds the servers. `localhost` is ::1 on some machines and 127.0.0.1 on others: both are served. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ExitError } from "../base/exit-error.ts";

export interface BoundServers {
  readonly servers: readonly Server[];
  readonly port: number;
  /** `http://127.0.0.1:8080`, without a trailing slash. */
  readonly url: string;
}

/** A free IPv4 port may be taken on IPv6; a few tries find one that is free on both. */
const MAX_ANY_PORT_TRIES = 5;

const BOTH_LOOPBACKS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"]);

/** @throws {ExitError} addressInUse, or other when the address is not this machine's */
export async function listenOn(
  createServer: () => Server,
  host: string,
  port: number,
): Promise<BoundServers> {
  if (!BOTH_LOOPBACKS.has(host)) return listenOnce(createServer, [host], port);
  for (let tries = 1; ; tries++) {
    try {
      return await listenOnce(createServer, ["127.0.0.1", "::1"], port);
    } catch (error) {
      const mayRetry = port === 0 && tries < MAX_ANY_PORT_TRIES;
      if (!mayRetry || !isInUse(error)) throw error;
    }
  }
}

async function listenOnce(
  createServer: () => Server,
  addresses: readonly string[],
  port: number,
): Promise<BoundServers> {
  const servers: Server[] = [];
  let boundPort = port;
  for (const address of addresses) {
    const server = createServer();
    try {
      boundPort = await bind(server, address, boundPort);
      servers.push(server);
    } catch (error) {
      // A machine without IPv6 is still served on 127.0.0.1.
      if (servers.length > 0 && isAddressMissing(error)) continue;
      for (const bound of servers) bound.close();
      throw toExitError(error, address, boundPort);
    }
  }
  const name = addresses[0] ?? "";
  const shown = name.includes(":") ? `[${name}]` : name;
  return { servers, port: boundPort, url: `http://${shown}:${boundPort}` };
}

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function toExitError(error: unknown, address: string, port: number): ExitError {
  if (isInUse(error)) {
    const message = `port ${port} is in use on ${address}; choose another with --port`;
    return new ExitError("addressInUse", message);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new ExitError("other", `cannot listen on ${address} port ${port}: ${reason}`);
}

function isInUse(error: unknown): boolean {
  if (error instanceof ExitError) return error.reason === "addressInUse";
  return codeOf(error) === "EADDRINUSE";
}

function isAddressMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT";
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
