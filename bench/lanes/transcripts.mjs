/** Recorded agent sessions as the items that a client would send, turn by turn. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";

const FILE = "traces/trajectories/trajectories.jsonl.gz";

/**
 * `[{id, lead, turns}]` of the sessions in a folder of test data. `lead`: the items of tools and
 * instructions that the first request begins with. `turns`: what each request adds, the recorded answer
 * to the one before included.
 */
export function readTranscripts(folder) {
  const lines = gunzipSync(readFileSync(path.join(folder, FILE)))
    .toString()
    .trim()
    .split("\n");
  return lines.map((line) => {
    const { id, system, tools, turns } = JSON.parse(line);
    return { id, lead: leadItems(system, tools), turns: requestsOf(turns) };
  });
}

function leadItems(system, tools) {
  const instructions = { type: "message", role: "developer", content: system };
  return [{ type: "additional_tools", role: "developer", tools }, instructions];
}

/** A request goes out in front of every recorded answer. */
function requestsOf(turns) {
  const requests = [];
  let items = [];
  for (const turn of turns) {
    if (turn.role === "assistant" && items.length > 0) {
      requests.push(items);
      items = [];
    }
    items.push(...itemsOf(turn));
  }
  if (items.some(({ type, role }) => type === "function_call_output" || role === "user")) {
    requests.push(items);
  }
  return requests;
}

function itemsOf({ role, content, tool_calls: calls = [], tool_call_id: callId }) {
  if (role === "tool") return [{ type: "function_call_output", call_id: callId, output: content }];
  const text = content ?? "";
  if (role !== "assistant") return [{ type: "message", role, content: text }];
  return [
    { type: "message", role, content: [{ type: "output_text", text }] },
    ...calls.map(({ id, name, arguments: args }) => ({
      type: "function_call",
      ...{ call_id: id, name, arguments: args },
    })),
  ];
}
