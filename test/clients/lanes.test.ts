/** Several conversations on one socket, through the SDK's own lanes. */
import type { ResponsesWebSocketLane } from "openai/lib/responses/responses-websocket-lane";
import { ResponsesWebSocketSession } from "openai/lib/responses/responses-websocket-session";
import { ResponsesWS } from "openai/resources/responses/ws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FRANCE, ITALY, type SdkFixture, startSdkFixture, textOf } from "./sdk-fixture.ts";

const BUDGET = { maxLanes: 64, maxBufferedEvents: 10_000, maxBufferedBytes: 16 * 1024 * 1024 };
const MAX_NAMED_LANES = 32;
const MAX_IN_FLIGHT = 16;

let sdk: SdkFixture;
beforeAll(async () => {
  sdk = await startSdkFixture();
});
afterAll(() => sdk?.[Symbol.asyncDispose]());

async function withLanes<T>(use: (session: ResponsesWebSocketSession) => Promise<T>): Promise<T> {
  const socket = new ResponsesWS(sdk.client);
  socket.on("error", () => undefined); // a lane reports its own; without a listener the SDK rejects globally
  await new Promise<void>((resolve) => socket.socket.on("open", () => resolve()));
  const session = new ResponsesWebSocketSession(socket, BUDGET);
  try {
    return await use(session);
  } finally {
    session.close();
    socket.close();
  }
}

/** Sends one request on the lane. */
function ask(lane: ResponsesWebSocketLane, input: string, fields: object = {}): void {
  lane.create({ model: sdk.model, temperature: 0, store: false, input, ...fields } as Parameters<
    typeof lane.create
  >[0]);
}

test("two lanes run at once, each with its own answer", async () => {
  await withLanes(async (session) => {
    const [left, right] = [session.lane("left"), session.lane("right")];
    ask(left, FRANCE.question);
    ask(right, ITALY.question);
    const [first, second] = await Promise.all([left.finalResponse(), right.finalResponse()]);
    expect([textOf(first), textOf(second)]).toEqual([FRANCE.answer, ITALY.answer]);
  });
});

test("the default lane and a named one have their own answers too", async () => {
  await withLanes(async (session) => {
    const [plain, named] = [session.lane(), session.lane("named")];
    ask(plain, FRANCE.question);
    ask(named, ITALY.question);
    const [first, second] = await Promise.all([plain.finalResponse(), named.finalResponse()]);
    expect([textOf(first), textOf(second)]).toEqual([FRANCE.answer, ITALY.answer]);
  });
});

test("requests of one lane come one after the other, in order", async () => {
  await withLanes(async (session) => {
    const lane = session.lane("main");
    for (const { question } of [FRANCE, ITALY, FRANCE]) ask(lane, question);
    const texts = [];
    for (let i = 0; i < 3; ++i) texts.push(textOf(await lane.finalResponse()));
    expect(texts).toEqual([FRANCE.answer, ITALY.answer, FRANCE.answer]);
  });
});

test("a fork on another lane inherits the context and leaves its parent usable", async () => {
  await withLanes(async (session) => {
    const [main, branch] = [session.lane("main"), session.lane("branch")];
    ask(main, FRANCE.question);
    const parent = await main.finalResponse();
    const chained = { previous_response_id: parent.id };
    ask(branch, ITALY.question, chained);
    ask(main, ITALY.question, chained);
    const [forked, continued] = await Promise.all([branch.finalResponse(), main.finalResponse()]);
    expect(textOf(forked)).toBe(textOf(continued));
    for (const { usage } of [forked, continued]) {
      expect(usage?.input_tokens).toBeGreaterThan(parent.usage?.total_tokens ?? 0);
      expect(usage?.input_tokens_details.cached_tokens).toBeGreaterThan(0);
    }
  });
});

test("an error of one lane reaches that lane only", async () => {
  await withLanes(async (session) => {
    const [bad, good] = [session.lane("bad"), session.lane("good")];
    ask(bad, ITALY.question, { previous_response_id: "resp_unknown_to_this_server" });
    ask(good, FRANCE.question);
    await expect(bad.finalResponse()).rejects.toMatchObject({
      error: { status: 400, error: { code: "previous_response_not_found" } },
    });
    expect(textOf(await good.finalResponse())).toBe(FRANCE.answer);
    ask(bad, ITALY.question);
    expect(textOf(await bad.finalResponse())).toBe(ITALY.answer);
  });
});

test("the 33rd named lane is refused, the others go on", async () => {
  await withLanes(async (session) => {
    const short = { max_output_tokens: 1 };
    const lanes = Array.from({ length: MAX_NAMED_LANES }, (_, i) => session.lane(`lane_${i}`));
    for (const lane of lanes) ask(lane, FRANCE.question, short);
    const responses = await Promise.all(lanes.map((lane) => lane.finalResponse()));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set(["incomplete"]));
    const extra = session.lane("one_more");
    ask(extra, FRANCE.question, short);
    await expect(extra.finalResponse()).rejects.toMatchObject({
      error: { error: { code: "websocket_stream_limit_reached" } },
    });
    const [first] = lanes;
    if (first) ask(first, FRANCE.question);
    expect(textOf((await first?.finalResponse()) as never)).toBe(FRANCE.answer);
  });
});

test("more requests than may be in flight all get their answer", async () => {
  await withLanes(async (session) => {
    const lanes = Array.from({ length: MAX_IN_FLIGHT + 4 }, (_, i) => session.lane(`lane_${i}`));
    for (const lane of lanes) ask(lane, ITALY.question);
    const responses = await Promise.all(lanes.map((lane) => lane.finalResponse()));
    expect(new Set(responses.map(textOf))).toEqual(new Set([ITALY.answer]));
  });
});
