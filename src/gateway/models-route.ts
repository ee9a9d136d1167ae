/** `/v1/models`: one body for two readers, the OpenAI list and the catalog that Codex reads. */
import type { FastifyInstance } from "fastify";
import type { SessionService } from "../session/session-types.ts";
import { callerOf } from "./http-exchange.ts";
import { requireModel } from "./model-lookup.ts";
import type { ServiceState } from "./service-state.ts";

export function addModelRoutes(app: FastifyInstance, state: ServiceState): void {
  const createdSeconds = Math.floor(Date.now() / 1000);
  const entryOf = (session: SessionService) => ({
    id: session.modelId,
    object: "model",
    created: createdSeconds,
    owned_by: "warmloop",
  });
  app.get("/v1/models", (request) => {
    const session = state.requireSession();
    const usable = callerOf(request).mayUse(session.modelId) ? [session] : [];
    return { object: "list", data: usable.map(entryOf), models: usable.map(catalogEntry) };
  });
  app.get<{ Params: { id: string } }>("/v1/models/:id", (request) => {
    const session = state.requireSession();
    requireModel(session, callerOf(request), request.params.id);
    return entryOf(session);
  });
}

/**
 * The smallest entry that Codex 0.171 takes, without instructions that a small context has no room
 * for; `context_window` drives its compaction.
 */
function catalogEntry(session: SessionService) {
  return {
    slug: session.modelId,
    display_name: session.modelId,
    description: "Served by warmloop",
    supported_reasoning_levels: [],
    shell_type: "unified_exec",
    visibility: "list",
    supported_in_api: true,
    priority: 1,
    base_instructions: "You are a coding agent. Use exec_command to run shell commands.",
    supports_reasoning_summaries: false,
    support_verbosity: false,
    apply_patch_tool_type: "freeform",
    truncation_policy: { mode: "tokens", limit: 2000 },
    supports_parallel_tool_calls: true,
    context_window: session.contextTokens,
    experimental_supported_tools: [],
    input_modalities: ["text"],
    include_skills_usage_instructions: false,
    include_plugin_usage_instructions: false,
    include_apps_usage_instructions: false,
  };
}
