import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/base/deferred.ts";
import { EngineError } from "../../../src/engine/endpoint.ts";
import { createFixture, says, settled, userMessage } from "./session-fixture.ts";

const NOT_FOUND = {
  status: 400,
  body: { code: "previous_response_not_found", param: "previous_response_id" },
};

describe("finding the parent", () => {
  it("store:false over HTTP gives no id to continue from", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("A"));
    const { response } = await fixture.run({ store: false });
    await expect(fixture.run({ previousResponseId: response.id })).rejects.toMatchObject(NOT_FOUND);
  });

  it("store:true over HTTP chains, and continues its live sequence", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("A"), says("B"));
    const first = await fixture.run({ store: true });
    const second = await fixture.run({ store: true, previousResponseId: first.response.id });
    expect(second.response.status).toBe("completed");
    expect(fixture.endpoint.requests[1]?.request.continueFrom).toBeDefined();
  });

  it("an unstored response of a socket is unknown elsewhere, a stored one is not", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("A"), says("B"), says("C"));
    const unstored = await socket.run({ store: false });
    const stored = await socket.run({ store: true });
    const elsewhere = fixture.connect();
    await expect(elsewhere.run({ previousResponseId: unstored.response.id })).rejects.toMatchObject(
      NOT_FOUND,
    );
    const found = await elsewhere.run({ previousResponseId: stored.response.id });
    expect(found.response.status).toBe("completed");
  });

  it("an id resolves only for its tenant, on HTTP and on a socket", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("A"));
    const { response } = await fixture.run({ store: true }, { tenant: "a" });
    const previousResponseId = response.id;
    await expect(fixture.run({ previousResponseId }, { tenant: "b" })).rejects.toMatchObject(
      NOT_FOUND,
    );
    await expect(fixture.connect("b").run({ previousResponseId })).rejects.toMatchObject(NOT_FOUND);
    expect(fixture.endpoint.requests[0]?.request.tenantSalt).toBe("a");
  });

  it("a running or failed response is no parent", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const computing = createDeferred<void>();
    fixture.endpoint.script.push(says("A", { computing: computing.promise }), {
      steps: [[]],
      failsAfterOutput: new EngineError("ERR_INTERNAL", "x"),
    });
    const running = fixture.start({}, socket.context);
    await settled();
    const created = running.events[0];
    const runningId = created && "response" in created ? created.response.id : "";
    const failed = await socket.run({}, "other");
    for (const previousResponseId of [runningId, failed.response.id]) {
      await expect(socket.run({ previousResponseId }, "third")).rejects.toMatchObject(NOT_FOUND);
    }
    computing.resolve();
    await running.response;
  });

  it("an item that the client resends with its id is used once", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("A"), says("B"));
    const first = await socket.run({});
    const id = first.response.output[0]?.id ?? "";
    const resent = {
      type: "message",
      id,
      role: "assistant",
      content: [{ type: "output_text", text: "A" }],
    } as const;
    const second = await socket.run({
      input: [resent, userMessage("more")],
      previousResponseId: first.response.id,
    });
    expect(second.response.usage?.input_tokens_details.miss_reason).toBeUndefined();
  });
});

describe("several children of one parent", () => {
  it("the first continues the sequence, the second branches off where it was", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const long = Array.from({ length: 40 }, (_, idx) => `word${idx}`).join(" ");
    fixture.endpoint.script.push(says("A"), says("B"), says("C"));
    const parent = await socket.run({ input: [userMessage(long)] });
    const chained = { previousResponseId: parent.response.id };
    await socket.run({ ...chained, input: [userMessage("left")] });
    const second = await socket.run({ ...chained, input: [userMessage("right")] });
    const [, left, right] = fixture.endpoint.requests;
    const numParentTokens = left?.request.continueFrom?.numTokens;
    expect(left?.request.fork).toBe(false);
    expect(right?.request).toMatchObject({
      fork: true,
      continueFrom: { numTokens: numParentTokens },
    });
    expect(second.response.usage?.input_tokens_details).not.toHaveProperty("miss_reason");
    const text = fixture.tokenizer.textOf(Int32Array.from(right?.allTokens ?? []));
    expect(text).toContain("right");
    expect(text).not.toContain("left");
  });

  it("another lane forks the sequence and the parent's lane still continues it", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("A"), says("B"), says("C"));
    const parent = await socket.run({});
    const chained = { previousResponseId: parent.response.id };
    await socket.run({ ...chained, input: [userMessage("branch")] }, "side");
    await socket.run({ ...chained, input: [userMessage("trunk")] });
    const [, branch, trunk] = fixture.endpoint.requests;
    expect(branch?.request).toMatchObject({ fork: true });
    expect(branch?.request.continueFrom).toEqual(trunk?.request.continueFrom);
    expect(trunk?.request.fork).toBe(false);
  });

  it("a branch from an earlier state is taken from the lane that went on", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("A"), says("B"), says("C"), says("D"));
    const first = await socket.run({});
    const second = await socket.run({ previousResponseId: first.response.id });
    await socket.run({ previousResponseId: second.response.id });
    await socket.run({ previousResponseId: first.response.id }, "side");
    const [, next, , branch] = fixture.endpoint.requests;
    const numTokens = next?.request.continueFrom?.numTokens;
    expect(branch?.request).toMatchObject({ fork: true, continueFrom: { numTokens } });
    expect(branch?.allTokens.slice(0, numTokens)).toEqual(next?.allTokens.slice(0, numTokens));
  });

  it("a branch from an earlier state submits its full list once the lane is gone", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("A"), { ...says("B"), dropsSequence: true }, says("C"));
    const first = await socket.run({});
    await socket.run({ previousResponseId: first.response.id });
    await socket.run({ previousResponseId: first.response.id }, "side");
    expect(fixture.endpoint.requests[2]?.request.continueFrom).toBeUndefined();
  });
});

describe("failing continuations", () => {
  const failure = { refuses: new EngineError("ERR_ENGINE_FAILED", "broken") };

  it("on the parent's lane evict the parent", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("A"), failure);
    const { response } = await socket.run({});
    const chained = { previousResponseId: response.id };
    await expect(socket.run(chained)).rejects.toMatchObject({ status: 500 });
    await expect(socket.run(chained)).rejects.toMatchObject(NOT_FOUND);
  });

  it("on another lane leave it alone", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("A"), failure, says("B"));
    const { response } = await socket.run({});
    const chained = { previousResponseId: response.id };
    await expect(socket.run(chained, "side")).rejects.toMatchObject({ status: 500 });
    expect((await socket.run(chained)).response.status).toBe("completed");
  });

  it("refused before processing leave it alone", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("A"), says("B"));
    const { response } = await socket.run({});
    const chained = { previousResponseId: response.id };
    const input = [{ type: "function_call_output", call_id: "call_none", output: "" } as const];
    await expect(socket.run({ ...chained, input })).rejects.toMatchObject({ status: 400 });
    expect((await socket.run(chained)).response.status).toBe("completed");
  });
});

describe("bounds", () => {
  it("a socket keeps the last 8 responses of a lane and the latest of every other", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const side = await socket.run({}, "side");
    const ids: string[] = [];
    for (let turn = 0; turn < 10; turn++) ids.push((await socket.run({})).response.id);
    const isKnown = (previousResponseId: string | undefined) =>
      socket.run({ previousResponseId: previousResponseId ?? "", generate: false }, "probe").then(
        () => true,
        () => false,
      );
    expect(await isKnown(ids[1])).toBe(false);
    expect(await isKnown(ids[2])).toBe(true);
    expect(await isKnown(side.response.id)).toBe(true);
  });

  it("what a socket held is found by its content when it is closed, until the server stops", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const first = await socket.run({});
    await socket.run({ previousResponseId: first.response.id });
    await socket.run({}, "side");
    expect(fixture.endpoint.numLiveSequences).toBe(2);
    expect(await fixture.metric("vllm:websocket_connections_active")).toBe(1);
    socket.connection.close();
    socket.connection.close();
    await settled();
    expect(fixture.endpoint.numLiveSequences).toBe(2);
    expect(await fixture.metric("vllm:websocket_connections_active")).toBe(0);
    await fixture.session.close();
    await settled();
    expect(fixture.endpoint.numLiveSequences).toBe(0);
  });

  it("a response that ends after its socket is found by its content", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const computing = createDeferred<void>();
    fixture.endpoint.script.push(says("A", { computing: computing.promise }));
    const { response } = fixture.start({}, socket.context);
    await settled();
    socket.connection.close();
    computing.resolve();
    await response;
    await settled();
    expect(fixture.endpoint.numLiveSequences).toBe(1);
  });
});
