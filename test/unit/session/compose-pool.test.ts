import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ComposePool } from "../../../src/session/compose-pool.ts";
import { type ComposeRequest, PromptComposer } from "../../../src/session/prompt-composer.ts";
import { openTextModel } from "../../../src/text/open-text-model.ts";
import type { ChatTemplate } from "../../../src/text/text-types.ts";

const modelPath = path.join(import.meta.dirname, "../../golden/models/llama-spm.F16.gguf");
const chatTemplate =
  "{% for m in messages %}{% if m.content == 'bad' %}{{ raise_exception('no bad ones') }}" +
  "{% endif %}[{{ m.role }}] {{ m.content }}\n{% endfor %}";

const pool = new ComposePool({ modelPath, chatTemplate });
afterAll(() => pool.close());

function requestOf(text: string): ComposeRequest {
  const head = {
    instructions: "be brief",
    tools: [],
    date: new Date(0),
    reasoningEffort: undefined,
  };
  const content = [{ type: "input_text" as const, text }];
  const items = [{ type: "message" as const, role: "user" as const, content }];
  return { tenant: "alice", head, items, parent: undefined, addGenerationPrompt: true };
}

describe("a prompt composed on another thread", () => {
  test("is the same as one composed here", async () => {
    const model = openTextModel(modelPath, { chatTemplate });
    const here = new PromptComposer(model, model.chatTemplate as ChatTemplate);
    const request = requestOf("the quick brown fox ".repeat(500));
    expect(await pool.compose(request)).toEqual(await here.compose(request));
  });

  test("is refused with the template's message", async () => {
    await expect(pool.compose(requestOf("bad"))).rejects.toMatchObject({
      status: 400,
      body: {
        code: "invalid_value",
        param: "input",
        message: expect.stringMatching(/no bad ones/),
      },
    });
  });
});
