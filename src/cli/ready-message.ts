/** What a started server prints: the line that scripts wait for, then how to connect. */
import { CODEX_KEY_VARIABLE, type CodexFacts, codexSteps, curlAuth } from "./codex-settings.ts";

export interface ReadyFacts extends CodexFacts {
  readonly needsKey: boolean;
}

export function readyMessage(facts: ReadyFacts): string {
  const { url, modelId, needsKey } = facts;
  return `warmloop ready ${url} model=${modelId}

  curl ${url}/v1/responses${curlAuth(needsKey)} -H "content-type: application/json" \\
    -d '{"model": "${modelId}", "input": "What is the capital of France?"}'

  openai SDK:
    new OpenAI({ baseURL: "${url}/v1", apiKey: ${needsKey ? `process.env.${CODEX_KEY_VARIABLE}` : '"none"'} })

  Codex CLI:
${codexSteps(facts, needsKey, "    ")}

`;
}
