/** The agent tasks of the loop benchmark, and the numbers that are made of their runs. */
import { describe, expect, test } from "vitest";
import { MODES, runTask } from "../../../bench/loop/conversation.mjs";
import { ticksOf } from "../../../bench/loop/process-cpu.mjs";
import { resultLengths, resultText } from "../../../bench/loop/result-texts.mjs";
import { differingTurns, rowsOf, sameTurnsRow } from "../../../bench/loop/rows.mjs";
import { TASKS } from "../../../bench/loop/tasks.mjs";

const TASK = {
  name: "small",
  instructions: "Be brief.",
  tools: [{ type: "function", name: "look" }],
  request: "Look twice.",
  results: ["nothing", "a door"],
};

type Mode = keyof typeof MODES;

/** A client that answers "said 1", "said 2", ... and keeps what it was asked. */
function recordingClient() {
  const requests: { input: { id?: string; content: unknown }[]; [field: string]: unknown }[] = [];
  return {
    requests,
    async respond(request: (typeof requests)[number]) {
      requests.push(structuredClone(request));
      const n = requests.length;
      const content = [{ type: "output_text", text: `said ${n}` }];
      const output = [{ type: "message", id: `msg_${n}`, role: "assistant", content }];
      return { response: { id: `resp_${n}`, output, usage: {} } };
    },
  };
}

async function requestsOf(mode: Mode, head = "items") {
  const client = recordingClient();
  await runTask(TASK, MODES[mode], client, { fields: { model: "m" }, head });
  return client.requests;
}

describe("a task", () => {
  test.each(TASKS.map((task) => [task.name, task] as const))(
    "%s has that many turns",
    (name, task) => {
      expect(task.results).toHaveLength(Number(/\d+$/.exec(name)) - 1);
    },
  );

  test("sends the whole history each turn without state, the model's own items among it", async () => {
    const requests = await requestsOf("http-stateless");
    expect(requests.map(({ input }) => input.length)).toEqual([3, 5, 7]);
    expect(requests[2]?.input.map(({ id }) => id).filter(Boolean)).toEqual(["msg_1", "msg_2"]);
    expect(requests.every((request) => !("previous_response_id" in request))).toBe(true);
  });

  test.each<Mode>(["http-chained", "websocket"])(
    "sends over %s its new items, behind the last response",
    async (mode) => {
      const requests = await requestsOf(mode);
      expect(requests.map(({ input }) => input.length)).toEqual([3, 1, 1]);
      expect(requests.map((request) => request.previous_response_id)).toEqual([
        undefined,
        "resp_1",
        "resp_2",
      ]);
      expect(requests[1]?.input).toEqual([{ type: "message", role: "user", content: "nothing" }]);
    },
  );

  test("repeats tools and instructions where they are fields", async () => {
    const requests = await requestsOf("websocket", "fields");
    for (const request of requests) {
      expect(request).toMatchObject({ instructions: "Be brief.", tools: TASK.tools });
    }
    expect(requests.map(({ input }) => input.length)).toEqual([1, 1, 1]);
  });
});

describe("results", () => {
  test("are as long as the recorded ones, files the longest, cut where a task says so", () => {
    const tools = ["read_file", "apply_patch", "run_tests", "read_file"];
    expect(resultLengths(tools, 4000)).toEqual([505, 45, 97, 2073]);
    expect(resultLengths(tools, 600)).toEqual([505, 45, 97, 600]);
  });

  test("have exactly the wanted length, and the same words every time", () => {
    for (const numChars of [1, 45, 3741]) {
      expect(resultText("search", numChars, 3)).toHaveLength(numChars);
      expect(resultText("search", numChars, 3)).toBe(resultText("search", numChars, 3));
    }
  });
});

describe("rows", () => {
  const usage = {
    input_tokens: 100,
    output_tokens: 10,
    input_tokens_details: { cached_tokens: 64 },
  };
  const runOf = (sentBytes: number, text = "x") => ({
    turns: [
      { text, usage, ttftMs: 30 },
      { text: "y", usage, ttftMs: 10 },
    ],
    ...{ sentBytes, receivedBytes: 5, reconnects: 0, totalMs: 200 },
    cpu: { allMs: 1500, mainMs: 8 },
  });
  const ids = { place: "loop", task: "refactor-40" };

  test("are medians of a mode's runs, and ratios to the stateless run of the same round", () => {
    const rows = rowsOf(ids, {
      "http-stateless": [runOf(1000), runOf(2000), runOf(1000)],
      websocket: [runOf(40), runOf(60), runOf(50)],
    });
    const row = (id: string) => rows.find((one) => one.id === `loop/refactor-40/${id}`);
    expect(row("websocket/sent-bytes")?.ours).toEqual({ median: 50, min: 40, max: 60, n: 3 });
    expect(row("websocket/sent-bytes-of-stateless")).toMatchObject({
      ours: { median: 0.04, min: 0.03, max: 0.05 },
      target: 0.05,
      met: true,
    });
    expect(row("websocket/total-of-stateless")).toMatchObject({ target: 0.6, met: false });
    expect(row("websocket/computed-tokens")?.ours.median).toBe(2 * (100 - 64 + 10));
    expect(row("websocket/gateway-cpu")?.ours.median).toBe(4);
    expect(row("websocket/ttft")).toMatchObject({ ours: { median: 20 }, byTurn: [30, 10] });
  });

  test("leave the CPU time out where it is not known", () => {
    const rows = rowsOf(ids, { websocket: [{ ...runOf(1), cpu: undefined }] });
    expect(rows.map(({ id }) => id).filter((id) => id.endsWith("cpu"))).toEqual([]);
  });

  test("count the turns that are the same in all modes", () => {
    const runs = { "http-stateless": [runOf(1)], websocket: [runOf(1, "other")] };
    expect(sameTurnsRow(ids, runs)).toMatchObject({ ours: { median: 1 }, target: 2, met: false });
    expect(differingTurns([runOf(1), runOf(2)])).toEqual([]);
  });
});

test("a process's ticks are found behind a name with spaces and brackets", () => {
  const fields = Array.from({ length: 20 }, (_, index) => index).join(" ");
  expect(ticksOf(`7 (node (x) y) S ${fields}`)).toBe(10 + 11);
});
