/** What a started server prints: the line that scripts wait for, then how to connect. */

export interface ReadyFacts {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  readonly modelId: string;
  readonly contextTokens: number;
  readonly needsKey: boolean;
}

export function readyMessage({ url, modelId, contextTokens, needsKey }: ReadyFacts): string {
  const auth = needsKey ? ` -H "authorization: Bearer $WARMLOOP_KEY"` : "";
  return `warmloop ready ${url} model=${modelId}

  curl ${url}/v1/responses${auth} -H "content-type: application/json" \\
    -d '{"model": "${modelId}", "input": "What is the capital of France?"}'

  openai SDK:
    new OpenAI({ baseURL: "${url}/v1", apiKey: ${needsKey ? "process.env.WARMLOOP_KEY" : '"none"'} })

  Codex CLI, in $CODEX_HOME/config.toml:
    model = "${modelId}"
    model_provider = "warmloop"
    model_context_window = ${contextTokens}
    [model_providers.warmloop]
    name = "warmloop"
    base_url = "${url}/v1"
    env_key = "WARMLOOP_KEY"
    wire_api = "responses"
    supports_websockets = true

`;
}
