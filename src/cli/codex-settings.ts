/**
 * Settings of the Codex CLI for a served model: what `npm start` and `doctor` print, and what
 * `npm run check:codex` runs the real Codex with.
 */

export interface CodexFacts {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  readonly modelId: string;
  readonly contextTokens: number;
}

/** Variable that Codex reads the key from; any value while the server has no `--api-keys`. */
export const CODEX_KEY_VARIABLE = "WARMLOOP_KEY";

/** Where the settings look for the model catalog, which is the body of `/v1/models`. */
export const CODEX_CATALOG = "warmloop-models.json";

/** With less, the first prompt of Codex' own defaults (8,000 tokens and more) leaves no room to work. */
const ROOMY_CONTEXT_TOKENS = 32_768;

/** Leaves out what a small context has no room for. */
const SPARING = `web_search = "disabled"
include_permissions_instructions = false
project_doc_max_bytes = 0

[features]
goals = false
view_image = false

[agents]
enabled = false

[skills.bundled]
enabled = false
`;

/** Text of `$CODEX_HOME/config.toml`. `catalogPath`: an absolute path. */
export function codexConfig(
  { url, modelId, contextTokens }: CodexFacts,
  catalogPath: string,
  usesWebSocket = true,
): string {
  const sparing = contextTokens < ROOMY_CONTEXT_TOKENS ? SPARING : "";
  return `model = ${JSON.stringify(modelId)}
model_provider = "warmloop"
model_catalog_json = ${JSON.stringify(catalogPath)}
${sparing}
[model_providers.warmloop]
name = "warmloop"
base_url = "${url}/v1"
env_key = "${CODEX_KEY_VARIABLE}"
wire_api = "responses"
supports_websockets = ${usesWebSocket}
`;
}

/** The header of curl that a server with keys asks for. */
export function curlAuth(needsKey: boolean): string {
  return needsKey ? ` -H "authorization: Bearer $${CODEX_KEY_VARIABLE}"` : "";
}

/** Commands and settings for a reader, indented by `indent`. */
export function codexSteps(facts: CodexFacts, needsKey: boolean, indent: string): string {
  const config = codexConfig(facts, `/ABSOLUTE/PATH/OF/CODEX_HOME/${CODEX_CATALOG}`);
  const text = `curl ${facts.url}/v1/models${curlAuth(needsKey)} > $CODEX_HOME/${CODEX_CATALOG}
${CODEX_KEY_VARIABLE}=${needsKey ? "..." : "none"} codex            # with this $CODEX_HOME/config.toml:

${config}`;
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? line : indent + line))
    .join("\n");
}
