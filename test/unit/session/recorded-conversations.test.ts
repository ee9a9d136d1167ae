/**
 * Conversations of real clients, replayed: their requests, against answers that make the calls which
 * the next request has the results of.
 */
import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject } from "../../../src/base/json-object.ts";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import type { CallableTool, ResponseObject } from "../../../src/protocol/responses-types.ts";
import { type RecordedRequest, recordedRequests } from "../../recorded-requests.ts";
import type { ScriptedTurn } from "./fake-endpoint.ts";
import { calls, createFixture, says } from "./session-fixture.ts";

const recorded = recordedRequests();

const ARGUMENTS = '{"input":"x"}';

/** What the tools are that give a result of this type. */
const ANSWERED: Readonly<Record<string, CallableTool["type"]>> = {
  function_call_output: "function",
  custom_tool_call_output: "custom",
  tool_search_output: "tool_search",
};

class Replay {
  readonly #fixture = createFixture({ contextTokens: 1_000_000 });
  readonly #socket = this.#fixture.connect();
  /** Recorded call ids, and those of the calls that were made here. */
  readonly #callIds = new Map<string, string>();
  #last: ResponseObject | undefined;

  async run({ transport, body }: RecordedRequest, next: RecordedRequest | undefined) {
    const request = parseResponsesRequest(this.#rewritten(body), transport);
    const answered = resultsOf(next?.body).filter((item) => !this.#isAnswerTo(item, next?.body));
    if (request.generate) {
      this.#fixture.endpoint.script.push(scriptOf(answered, request.callableTools));
    }
    const { response } = await (transport === "ws"
      ? this.#socket.run(request)
      : this.#fixture.run(request));
    for (const [index, item] of answered.entries()) {
      const call = response.output[index];
      if (call && "call_id" in call) this.#callIds.set(String(item.call_id), call.call_id);
    }
    this.#last = response;
    return response;
  }

  get offered(): readonly string[] {
    const tools = this.#fixture.endpoint.requests.at(-1)?.request.outputFormat?.calls?.tools ?? [];
    return tools.map(({ name }) => name);
  }

  /** The request has the call itself. */
  #isAnswerTo(item: JsonObject, body: JsonObject | undefined): boolean {
    return itemsOf(body).some(({ type, call_id }) => !isResult(type) && call_id === item.call_id);
  }

  #rewritten(body: JsonObject): JsonObject {
    const input = itemsOf(body).map((item) => {
      const callId = this.#callIds.get(String(item.call_id));
      return callId === undefined || hasCall(body, item) ? item : { ...item, call_id: callId };
    });
    const isChained = body.previous_response_id !== undefined;
    return { ...body, input, ...(isChained && { previous_response_id: this.#last?.id }) };
  }
}

function hasCall(body: JsonObject, { call_id }: JsonObject): boolean {
  return itemsOf(body).some((item) => !isResult(item.type) && item.call_id === call_id);
}

function itemsOf(body: JsonObject | undefined): readonly JsonObject[] {
  return Array.isArray(body?.input) ? body.input.filter(isJsonObject) : [];
}

function resultsOf(body: JsonObject | undefined): readonly JsonObject[] {
  return itemsOf(body).filter(({ type }) => isResult(type));
}

function isResult(type: unknown): boolean {
  return typeof type === "string" && Object.hasOwn(ANSWERED, type);
}

function scriptOf(results: readonly JsonObject[], tools: readonly CallableTool[]): ScriptedTurn {
  if (results.length === 0) return says("Done.");
  const names = results.map(
    ({ type }) => tools.find((tool) => tool.type === ANSWERED[String(type)])?.name ?? "shell",
  );
  return calls(...names.map((name) => ({ name, arguments: [ARGUMENTS] })));
}

describe.skipIf(recorded.size === 0)("recorded conversations (WARMLOOP_TEST_DATA)", () => {
  it.each([...recorded.keys()].filter((file) => file.includes("codex-frames")))(
    "%s: every request continues the one before",
    async (file) => {
      const requests = recorded.get(file) ?? [];
      const replay = new Replay();
      const responses: ResponseObject[] = [];
      for (const [index, request] of requests.entries()) {
        responses.push(await replay.run(request, requests[index + 1]));
      }
      expect(responses.map(({ status }) => status)).toEqual(requests.map(() => "completed"));
      for (const response of responses.filter((r) => r.previous_response_id !== null)) {
        expect(response.usage?.input_tokens_details.miss_reason).toBeUndefined();
      }
    },
  );

  it("tools that a search found are callable behind it", async () => {
    const requests = recorded.get("traces/codex-frames/ws-tool-search-2-mcp-servers.jsonl") ?? [];
    const replay = new Replay();
    const offered: (readonly string[])[] = [];
    for (const [index, request] of requests.entries()) {
      await replay.run(request, requests[index + 1]);
      offered.push(replay.offered);
    }
    const found = requests.flatMap(({ body }) => itemsOf(body)).flatMap(namesFound);
    expect(found.length).toBeGreaterThan(2);
    expect(offered.at(-1)).toEqual(expect.arrayContaining(found));
    for (const name of found) expect(offered[0]).not.toContain(name);
  });

  it("every conversation of the captures is answered", async () => {
    const all = recorded.get("captures/codex-ws.jsonl") ?? [];
    for (const name of new Set(all.map(({ conversation }) => conversation))) {
      const requests = all.filter(({ conversation }) => conversation === name);
      const replay = new Replay();
      const [first] = requests;
      // Some recordings begin in the middle of a chain.
      if (first?.body.previous_response_id !== undefined) continue;
      for (const [index, request] of requests.entries()) {
        if (/"input_image"|"compaction/.test(JSON.stringify(request.body.input))) break;
        const response = await replay.run(request, requests[index + 1]);
        expect(response.status, name).toBe("completed");
      }
    }
  });
});

function namesFound({ type, tools }: JsonObject): readonly string[] {
  if (type !== "tool_search_output" || !Array.isArray(tools)) return [];
  return tools.filter(isJsonObject).flatMap((tool) => {
    if (tool.type !== "namespace") return [String(tool.name)];
    const members = Array.isArray(tool.tools) ? tool.tools.filter(isJsonObject) : [];
    return members.map((member) => `${tool.name}__${member.name}`);
  });
}
