import { describe, expect, test } from "vitest";
import { parseCompletionRequest } from "../../../src/protocol/completion-request.ts";
import { outcomeOf } from "./outcome-of.ts";

function parse(fields: Record<string, unknown>) {
  return parseCompletionRequest({ model: "m", prompt: "One two", ...fields });
}

describe("prompts", () => {
  const text = (path: string, value: string) => ({ path, text: value, parseSpecial: false });

  test.each([
    ["a text", "One", [text("prompt", "One")]],
    ["texts", ["One", "Two"], [text("prompt[0]", "One"), text("prompt[1]", "Two")]],
    ["token ids", [5, 6], [{ path: "prompt", tokenIds: [5, 6] }]],
    [
      "lists of token ids",
      [[5], [6, 7]],
      [
        { path: "prompt[0]", tokenIds: [5] },
        { path: "prompt[1]", tokenIds: [6, 7] },
      ],
    ],
    ["both mixed", ["One", [6]], [text("prompt[0]", "One"), { path: "prompt[1]", tokenIds: [6] }]],
  ])("%s", (_what, prompt, prompts) => {
    expect(parse({ prompt }).prompts).toEqual(prompts);
  });

  test("special tokens in a text are parsed only when asked for", () => {
    expect(parse({ parse_special: true }).prompts).toMatchObject([{ parseSpecial: true }]);
  });
});

test("defaults are the API's own", () => {
  expect(parse({})).toMatchObject({
    request: { maxOutputTokens: 16, stream: false, generate: true, store: false, stop: [] },
    echo: false,
    includeUsage: false,
  });
});

test("null for every optional field means absent", () => {
  const names =
    "max_tokens temperature top_p top_k seed stop echo n best_of logprobs suffix logit_bias " +
    "stream stream_options user parse_special frequency_penalty presence_penalty response_format";
  const fields = Object.fromEntries(names.split(" ").map((name) => [name, null]));
  expect(parse(fields)).toEqual(parse({}));
});

test("sampling, stop and stream fields are those of chat", () => {
  const fields = { temperature: 0.5, top_k: 3, seed: 7, stop: ["\n"], frequency_penalty: 1 };
  expect(parse({ ...fields, stream: true, stream_options: { include_usage: true } })).toMatchObject(
    {
      request: {
        temperature: 0.5,
        topK: 3,
        seed: 7,
        stop: ["\n"],
        frequencyPenalty: 1,
        stream: true,
      },
      includeUsage: true,
    },
  );
});

test("max_tokens 0 only reads the prompt", () => {
  expect(parse({ max_tokens: 0 }).request).toMatchObject({ maxOutputTokens: 0, generate: false });
});

test.each([
  [{ prompt: undefined }, "400 missing_required_parameter prompt"],
  [{ prompt: 5 }, "400 invalid_type prompt"],
  [{ prompt: [] }, "400 invalid_value prompt"],
  [{ prompt: {} }, "400 invalid_type prompt"],
  [{ prompt: [5, "x"] }, "400 invalid_type prompt[1]"],
  [{ prompt: ["x", 5] }, "400 invalid_type prompt[1]"],
  [{ prompt: [[5, 1.5]] }, "400 invalid_type prompt[0][1]"],
  [{ prompt: Array(129).fill("x") }, "400 invalid_value prompt"],
  [{ model: undefined }, "400 missing_required_parameter model"],
  [{ max_tokens: -1 }, "400 invalid_value max_tokens"],
  [{ stream: "true" }, "400 invalid_type stream"],
  [{ n: 17 }, "400 invalid_value n"],
  [{ n: 16, prompt: Array(9).fill("a") }, "400 invalid_value prompt"],
  [{ n: 2, best_of: 3 }, "400 unsupported_parameter best_of"],
  [{ n: 2, best_of: 2, logprobs: 0 }, "accepted"],
  [{ logprobs: 6 }, "400 invalid_value logprobs"],
  [{ suffix: "end" }, "400 unsupported_parameter suffix"],
  [{ logit_bias: { "-5": 1 } }, "400 invalid_value logit_bias"],
  [{ response_format: { type: "json_object" } }, "accepted"],
  [{ n: 1, best_of: 1, suffix: "", logit_bias: {}, user: "u" }, "accepted"],
])("%j is %s", (fields, outcome) => {
  expect(outcomeOf(() => parse(fields))).toBe(outcome);
});
