/** Which prompts are composed on another thread: those of which much is rendered, whoever sent it and when. */
import { expect, it } from "vitest";
import type { RemoteComposer } from "../../../src/session/prompt-builder.ts";
import { PromptComposer } from "../../../src/session/prompt-composer.ts";
import { createFakeTextModel } from "./fake-text-model.ts";
import { createFixture, says, userMessage } from "./session-fixture.ts";

/** About 300 KB, in few tokens. */
const LARGE = `${"x".repeat(30_000)} `.repeat(10);

/** Composes with a model of its own, as another thread would, and counts. */
function countingComposer() {
  const model = createFakeTextModel();
  const composer = new PromptComposer(model, model.chatTemplate);
  const composed: number[] = [];
  const remote: RemoteComposer = {
    compose: (request) => {
      composed.push(request.items.length);
      return composer.compose(request);
    },
  };
  return { composed, remote };
}

it("a large new input is composed elsewhere, a small turn behind it is not", async () => {
  const { composed, remote } = countingComposer();
  const fixture = createFixture({ composer: remote });
  const socket = fixture.connect();
  fixture.endpoint.script.push(says("first"), says("second"));
  const { response } = await socket.run({ input: [userMessage(LARGE)] });
  await socket.run({ previousResponseId: response.id, input: [userMessage("and now?")] });
  expect(composed).toEqual([1]);
});

it("a large prompt that has to be made anew is composed elsewhere, however small the request", async () => {
  const { composed, remote } = countingComposer();
  const fixture = createFixture({ composer: remote });
  fixture.endpoint.script.push(says("first"), says("second"));
  const instructions = LARGE;
  const { response } = await fixture.run({ store: true, instructions: "short" });
  await fixture.run({ previousResponseId: response.id, instructions });
  expect(composed).toEqual([3]);
});

it("so is the summary of a large conversation, but not the short conversation behind it", async () => {
  const { composed, remote } = countingComposer();
  const fixture = createFixture({ composer: remote });
  fixture.endpoint.script.push(says("a summary"), says("ok"));
  const input = [userMessage("one"), userMessage(LARGE), userMessage("two")];
  await fixture.run({ input, compactThreshold: 5 });
  expect(composed).toEqual([3, 3]);
});
