/** What a started server prints: the line that scripts wait for, then how to connect. */
import { type CodexFacts, CODEX_KEY_VARIABLE, codexSteps } from "./codex-settings.ts";

export interface ReadyFacts extends CodexFacts {
  readonly needsKey: boolean;
}

export function readyMessage(facts: ReadyFacts): string {
  const { url, modelId, needsKey } = facts;
  const auth = needsKey ? ` -H "authorization: Bearer $${CODEX_KEY_VARIABLE}"` : "";
  return `warmloop ready ${url} model=${modelId}

  curl ${url}/v1/responses${auth} -H "content-type: application/json" \\
    -d '{"model": "${modelId}", "input": "What is the capital of France?"}'

  openai SDK:
    new OpenAI({ baseURL: "${url}/v1", apiKey: ${needsKey ? `process.env.${CODEX_KEY_VARIABLE}` : '"none"'} })

  Codex CLI:
${codexSteps(facts, needsKey, "    ")}

`;
}
