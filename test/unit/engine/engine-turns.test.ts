import { beforeEach, expect, test } from "vitest";
import type { TurnRequest } from "../../../src/engine/endpoint.ts";
import { EngineTurns } from "../../../src/engine/engine-turns.ts";
import { GREEDY } from "../../../src/engine/native-engine.ts";
import type { TurnUpdate } from "../../../src/engine/pool-messages.ts";
import {
  FINISH_REASONS,
  type NativeEngine,
  type NativeFinish,
  type NativeGrammar,
  type NativeRequest,
  type RequestId,
  type SequenceId,
  type StepEvents,
} from "../../../src/native/addon-types.ts";
import type {
  OutputDecoderOptions,
  OutputEvent,
  TokenScore,
} from "../../../src/text/text-types.ts";

const ERROR_CODES = ["ERR_ENGINE_FAILED", "ERR_ENGINE_CLOSED", "ERR_GRAMMAR"];

const GRAMMAR: NativeGrammar = {
  matcher: () => {
    throw new Error("the engine has matchers of its own");
  },
};

function compileGrammar(spec: string): NativeGrammar {
  if (spec === "good") return GRAMMAR;
  throw Object.assign(new Error("ERR_GRAMMAR: not JSON"), { code: "ERR_GRAMMAR" });
}

/** One event of a step; native request ids are 1, 2, ... in the order of the turns' starts. */
interface FakeEvent {
  readonly request: number;
  readonly tokens?: readonly number[];
  readonly finish?: NativeFinish;
  readonly admitted?: boolean;
  readonly errorIdx?: number;
  /** Rows of a token and its log probability, then the most likely ones. */
  readonly logprobs?: readonly (readonly [token: number, logprob: number])[];
}

function logprobColumns(events: readonly FakeEvent[]) {
  const rows = events.map(({ logprobs = [] }) => logprobs);
  const starts = [0];
  for (const row of rows) starts.push((starts.at(-1) ?? 0) + row.length);
  return {
    logprobsStart: Uint32Array.from(starts),
    logprobTokens: Int32Array.from(rows.flat(), ([token]) => token),
    logprobs: Float64Array.from(rows.flat(), ([, logprob]) => logprob),
  };
}

function makeStep(events: readonly FakeEvent[]): StepEvents {
  const starts = [0];
  for (const event of events) starts.push((starts.at(-1) ?? 0) + (event.tokens?.length ?? 0));
  const zeros = new Int32Array(events.length);
  return {
    requestIds: Uint32Array.from(events, (event) => event.request),
    sequenceIds: Uint32Array.from(events, (event) => 100 + event.request),
    tokenStart: Uint32Array.from(starts),
    tokens: Int32Array.from(events.flatMap((event) => event.tokens ?? [])),
    finish: Uint8Array.from(events, (event) => FINISH_REASONS.indexOf(event.finish ?? "none")),
    admitted: Uint8Array.from(events, (event) => (event.admitted ? 1 : 0)),
    promptTokens: zeros.map(() => 3),
    cachedTokens: zeros,
    liveHit: new Uint8Array(events.length),
    preemptedTokens: zeros,
    errorCode: Uint8Array.from(events, (event) => event.errorIdx ?? 0),
    logitsStart: new Uint32Array(events.length + 1),
    logits: new Float32Array(),
    ...logprobColumns(events),
    stepUs: 1,
  };
}

/** Token ids are character codes; "!" completes a call, "?" makes the decoder throw. */
function makeDecoder({ stop }: OutputDecoderOptions) {
  let text = "";
  let stopped = false;
  return {
    push(ids: Int32Array, scores?: readonly TokenScore[]): OutputEvent[] {
      if (scores !== undefined) pushedScores.push(scores);
      text += String.fromCharCode(...ids);
      if (text.endsWith("?")) throw new Error("bad token");
      stopped ||= stop.some((end) => text.endsWith(end));
      if (stopped) return [];
      if (text.endsWith("!")) return [{ type: "call_end" }];
      return [{ type: "text", delta: text.at(-1) ?? "" }];
    },
    finish: (): OutputEvent[] => [],
    get stopped() {
      return stopped;
    },
    get numTokens() {
      return text.length;
    },
    get numReasoningTokens() {
      return [...text].filter((character) => character === "?").length;
    },
  };
}

function makeRequest(fields: Partial<TurnRequest> = {}): TurnRequest {
  return {
    tokens: Int32Array.of(1, 2, 3),
    tenantSalt: "",
    sampling: GREEDY,
    maxOutputTokens: 10,
    stop: [],
    stopAfterCall: false,
    keepSequence: false,
    prefillOnly: false,
    ...fields,
  };
}

const tokensOf = (text: string) => [...text].map((char) => char.charCodeAt(0));

let calls: string[];
let submitted: NativeRequest[];
let pushedScores: (readonly TokenScore[])[];
let messages: TurnUpdate[][];
let turns: EngineTurns;
let submitError: Error | undefined;

beforeEach(() => {
  calls = [];
  submitted = [];
  pushedScores = [];
  messages = [];
  submitError = undefined;
  turns = new EngineTurns({
    engine: makeEngine(),
    textModel: {
      tokenizer: { eogIds: new Set([7, 9]), compileGrammar },
      createOutputDecoder: makeDecoder,
    },
    errorCodes: ERROR_CODES,
    workerId: 5,
    post: (updates) => messages.push([...updates]),
  });
});

/** Writes down what it is asked to do. */
function makeEngine(): NativeEngine {
  let lastRequest = 0;
  const accept = (request: NativeRequest): RequestId => {
    if (submitError !== undefined) throw submitError;
    submitted.push(request);
    return ++lastRequest as RequestId;
  };
  return {
    info: {} as NativeEngine["info"],
    submit: accept,
    continueSequence: (id, request) => {
      calls.push(`continue ${id}`);
      return accept(request);
    },
    fork: (id, numTokens) => {
      calls.push(`fork ${id} at ${numTokens}`);
      return (id + 1) as SequenceId;
    },
    release: (id) => calls.push(`release ${id}`),
    abort: (id) => calls.push(`abort ${id}`),
    pause: (id) => calls.push(`pause ${id}`),
    resume: (id) => calls.push(`resume ${id}`),
    stats: () => ({}) as ReturnType<NativeEngine["stats"]>,
    close: () => Promise.resolve(),
  };
}

test("one step of several turns is one message, with only what each turn has new", () => {
  void turns.run({ turnId: 1, request: makeRequest() });
  void turns.run({ turnId: 2, request: makeRequest() });
  turns.onStep(
    makeStep([
      { request: 1, admitted: true, tokens: tokensOf("a") },
      { request: 2, admitted: true },
    ]),
  );
  const admitted = { promptTokens: 3, cachedTokens: 0, liveHit: false };
  expect(messages).toEqual([
    [
      { turnId: 1, admitted, events: [{ type: "text", delta: "a" }] },
      { turnId: 2, admitted },
    ],
  ]);
});

test("the end-of-generation ids of the tokenizer stop the native request", () => {
  void turns.run({ turnId: 1, request: makeRequest() });
  expect([...(submitted[0]?.stopTokenIds ?? [])]).toEqual([7, 9]);
});

test("log probabilities are asked of the engine, and go to the decoder token by token", () => {
  const logprobs = { numTop: 1, scope: "text" } as const;
  void turns.run({ turnId: 1, request: makeRequest({ logprobs }) });
  void turns.run({ turnId: 2, request: makeRequest({ logprobs: { numTop: 0, scope: "prompt" } }) });
  expect(submitted[0]?.logprobs).toEqual({ numTop: 1, ofPrompt: false });
  expect(submitted[1]?.logprobs).toEqual({ numTop: 0, ofPrompt: true });
  const rows = [
    [97, -1],
    [98, -0.5],
  ] as const;
  turns.onStep(makeStep([{ request: 1, admitted: true, tokens: tokensOf("a"), logprobs: rows }]));
  expect(pushedScores).toEqual([[{ logprob: -1, top: [{ id: 98, logprob: -0.5 }] }]]);
});

test("a finished turn gives all its tokens and its live sequence, and its run ends", async () => {
  const ended = turns.run({ turnId: 1, request: makeRequest({ keepSequence: true }) });
  turns.onStep(makeStep([{ request: 1, admitted: true, tokens: tokensOf("a") }]));
  turns.onStep(makeStep([{ request: 1, tokens: tokensOf("b"), finish: "stop" }]));
  await ended;
  expect(messages.at(-1)?.[0]?.outcome).toEqual({
    type: "finished",
    result: {
      finish: "stop",
      tokens: Int32Array.from(tokensOf("ab")),
      reasoningTokens: 0,
      promptTokens: 3,
      cachedTokens: 0,
      liveHit: false,
      preemptedTokens: 0,
      sequence: { workerId: 5, sequenceId: 101, numTokens: 5 },
    },
  });
});

test("a stop string ends the turn at its token, aborts natively and keeps no sequence", () => {
  const request = makeRequest({ stop: ["bc"], keepSequence: true });
  void turns.run({ turnId: 1, request });
  turns.onStep(makeStep([{ request: 1, admitted: true, tokens: tokensOf("abcde") }]));
  expect(calls).toEqual(["abort 1"]);
  const outcome = messages[0]?.[0]?.outcome;
  expect(outcome).toMatchObject({
    result: { finish: "stop", tokens: Int32Array.from(tokensOf("abc")) },
  });
  expect(outcome).not.toHaveProperty("result.sequence");
  turns.onStep(makeStep([{ request: 1, tokens: tokensOf("f"), finish: "aborted" }]));
  expect(messages).toHaveLength(1);
  expect(calls).toEqual(["abort 1", "release 101"]);
});

test("stopAfterCall ends the turn with the token that completes the call", () => {
  void turns.run({ turnId: 1, request: makeRequest({ stopAfterCall: true }) });
  turns.onStep(makeStep([{ request: 1, admitted: true, tokens: tokensOf("a!b") }]));
  expect(messages[0]?.[0]).toMatchObject({
    events: [{ type: "text" }, { type: "call_end" }],
    outcome: { result: { finish: "stop", tokens: Int32Array.from(tokensOf("a!")) } },
  });
  expect(calls).toEqual(["abort 1"]);
});

test("a turn that is not admitted in its first whole step is queued, and says so once", () => {
  void turns.run({ turnId: 1, request: makeRequest() });
  for (let i = 0; i < 4; i++) turns.onStep(makeStep([]));
  expect(messages).toEqual([[{ turnId: 1, isQueued: true }]]);
});

test("a refused request fails its turn with the native code", async () => {
  submitError = Object.assign(new Error("ERR_CONTEXT_TOO_LONG: too long"), {
    code: "ERR_CONTEXT_TOO_LONG",
  });
  await turns.run({ turnId: 1, request: makeRequest() });
  const failure = { code: "ERR_CONTEXT_TOO_LONG", message: "too long" };
  expect(messages).toEqual([[{ turnId: 1, outcome: { type: "failed", failure } }]]);
});

test("a request that the engine fails carries the engine's code", () => {
  void turns.run({ turnId: 1, request: makeRequest() });
  turns.onStep(makeStep([{ request: 1, finish: "failed", errorIdx: 1 }]));
  expect(messages[0]?.[0]?.outcome).toMatchObject({ failure: { code: "ERR_ENGINE_CLOSED" } });
});

test("the compiled grammar of a turn goes with its native request", () => {
  void turns.run({ turnId: 1, request: makeRequest({ grammar: "good" }) });
  void turns.run({ turnId: 2, request: makeRequest() });
  expect(submitted[0]?.grammar).toBe(GRAMMAR);
  expect(submitted[1]).not.toHaveProperty("grammar");
});

test("a grammar that does not compile fails its turn, and nothing is submitted", async () => {
  await turns.run({ turnId: 1, request: makeRequest({ grammar: "bad" }) });
  const failure = { code: "ERR_GRAMMAR", message: "not JSON" };
  expect(messages).toEqual([[{ turnId: 1, outcome: { type: "failed", failure } }]]);
  expect(submitted).toEqual([]);
});

test("a grammar that the vocabulary cannot spell fails its turn with that reason", () => {
  void turns.run({ turnId: 1, request: makeRequest({ grammar: "good" }) });
  turns.onStep(makeStep([{ request: 1, finish: "failed", errorIdx: 2 }]));
  expect(messages[0]?.[0]?.outcome).toMatchObject({
    failure: { code: "ERR_GRAMMAR", message: expect.stringMatching(/vocabulary/) },
  });
});

test("a decoder that throws fails its own turn and no other", () => {
  void turns.run({ turnId: 1, request: makeRequest() });
  void turns.run({ turnId: 2, request: makeRequest() });
  turns.onStep(
    makeStep([
      { request: 1, tokens: tokensOf("?") },
      { request: 2, tokens: tokensOf("a") },
    ]),
  );
  expect(messages[0]?.[0]?.outcome).toMatchObject({ failure: { code: "ERR_INTERNAL" } });
  expect(messages[0]?.[1]?.events).toEqual([{ type: "text", delta: "a" }]);
  expect(calls).toEqual(["abort 1"]);
});

test("a pause and a resume reach the engine in order, behind the turn they name", () => {
  turns.control({ type: "pause", afterTurnId: 1 });
  turns.control({ type: "resume", afterTurnId: 1 });
  turns.control({ type: "pause", afterTurnId: 1 });
  void turns.run({ turnId: 1, request: makeRequest() });
  expect(calls).toEqual(["pause 1", "resume 1", "pause 1"]);
});

test("a cancel aborts its turn; one that overtook its turn waits for it", () => {
  turns.control({ type: "cancel", afterTurnId: 2 });
  void turns.run({ turnId: 1, request: makeRequest() });
  expect(calls).toEqual([]);
  void turns.run({ turnId: 2, request: makeRequest() });
  expect(calls).toEqual(["abort 2"]);
  turns.onStep(makeStep([{ request: 2, finish: "aborted" }]));
  turns.control({ type: "cancel", afterTurnId: 2 });
  expect(calls).toEqual(["abort 2"]);
});

test("a release waits for the turns that were sent before it", () => {
  turns.control({ type: "release", sequenceId: 40, afterTurnId: 1 });
  const continueFrom = { workerId: 5, sequenceId: 40, numTokens: 9 };
  void turns.run({ turnId: 1, request: makeRequest({ continueFrom, fork: true }) });
  expect(calls).toEqual(["fork 40 at 9", "continue 41", "release 40"]);
});

test("a branch that cannot be continued is given up again", () => {
  submitError = Object.assign(new Error("full"), { code: "ERR_QUEUE_FULL" });
  const continueFrom = { workerId: 5, sequenceId: 40, numTokens: 9 };
  void turns.run({ turnId: 1, request: makeRequest({ continueFrom, fork: true }) });
  expect(calls).toEqual(["fork 40 at 9", "continue 41", "release 41"]);
});
