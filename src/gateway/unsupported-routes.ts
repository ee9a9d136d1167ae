/** Endpoints of the API that exist elsewhere and not here yet, and which methods each path takes. */
import type { FastifyInstance, HTTPMethods } from "fastify";
import { invalidRequest } from "../protocol/api-error.ts";

interface Route {
  readonly methods: readonly HTTPMethods[];
  readonly path: string;
}

const UNSUPPORTED: readonly Route[] = [{ methods: ["POST"], path: "/v1/embeddings" }];

const SERVED: readonly Route[] = [
  { methods: ["GET"], path: "/health" },
  { methods: ["GET"], path: "/readiness" },
  { methods: ["GET"], path: "/metrics" },
  { methods: ["GET"], path: "/v1/models" },
  { methods: ["GET"], path: "/v1/models/:id" },
  { methods: ["POST"], path: "/v1/responses" },
  { methods: ["POST"], path: "/v1/responses/input_tokens" },
  { methods: ["POST"], path: "/v1/responses/compact" },
  { methods: ["GET", "DELETE"], path: "/v1/responses/:id" },
  { methods: ["POST"], path: "/v1/responses/:id/cancel" },
  { methods: ["GET"], path: "/v1/responses/:id/input_items" },
  { methods: ["POST"], path: "/v1/chat/completions" },
  { methods: ["POST"], path: "/v1/completions" },
];

export function addUnsupportedRoutes(app: FastifyInstance): void {
  for (const { methods, path } of UNSUPPORTED) {
    app.route({
      method: [...methods],
      url: path,
      handler: () => {
        const message = `${path} is not supported by this server yet.`;
        throw invalidRequest("unsupported_parameter", message);
      },
    });
  }
}

/** Value of `Allow` for a path that exists, literal paths before patterns; undefined otherwise. */
export function allowedMethods(path: string): string | undefined {
  const routes = [...SERVED, ...UNSUPPORTED];
  const route =
    routes.find((candidate) => candidate.path === path) ??
    routes.find((candidate) => matches(candidate.path, path));
  return route?.methods.join(", ");
}

function matches(pattern: string, path: string): boolean {
  const names = pattern.split("/");
  const parts = path.split("/");
  return (
    names.length === parts.length &&
    names.every((name, index) => name === parts[index] || name.startsWith(":"))
  );
}
