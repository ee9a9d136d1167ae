import type { FastifyRequest } from "fastify";

/** Path without the query, which may carry what its sender took for a key. */
export function pathOf({ url }: FastifyRequest): string {
  return url.replace(/\?.*$/s, "");
}
