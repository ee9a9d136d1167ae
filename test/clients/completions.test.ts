/** Completions through the SDK: texts and token ids, whole and streamed. */
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SdkFixture, startSdkFixture } from "./sdk-fixture.ts";

let sdk: SdkFixture;
beforeAll(async () => {
  sdk = await startSdkFixture();
});
afterAll(() => sdk?.[Symbol.asyncDispose]());

const PROMPT = "The capital of France is";

const greedy = () => ({ model: sdk.model, prompt: PROMPT, temperature: 0, max_tokens: 8 });

test("a text is continued where it ends", async () => {
  const completion = await sdk.client.completions.create(greedy());
  const [choice] = completion.choices;
  expect(choice?.text).toMatch(/^ Paris\b/);
  expect(choice?.finish_reason).toBe("length");
  expect(completion.usage).toMatchObject({ completion_tokens: 8 });
});

test("a stream joins to the same text, and ends with its usage", async () => {
  const whole = await sdk.client.completions.create(greedy());
  const stream = await sdk.client.completions.create({
    ...greedy(),
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const text = chunks.map((chunk) => chunk.choices[0]?.text ?? "").join("");
  expect(text).toBe(whole.choices[0]?.text);
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("length");
  expect(chunks.at(-1)?.usage?.completion_tokens).toBe(8);
});

test("echo repeats the prompt, a stop string ends the text, the cache is counted", async () => {
  const prompt = `${"The boats were small and the sea was calm. ".repeat(8)}${PROMPT}`;
  const request = { ...greedy(), prompt, stop: ["Paris"], echo: true };
  await sdk.client.completions.create(request);
  const again = await sdk.client.completions.create(request);
  expect(again.choices[0]).toMatchObject({ text: `${prompt} `, finish_reason: "stop" });
  expect(again.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThanOrEqual(64);
});

test("several prompts give what each gives alone, as text and as token ids", async () => {
  const other = "One, two, three,";
  const alone = await Promise.all(
    [PROMPT, other].map((prompt) => sdk.client.completions.create({ ...greedy(), prompt })),
  );
  const both = await sdk.client.completions.create({ ...greedy(), prompt: [PROMPT, other] });
  expect(both.choices.map(({ text }) => text)).toEqual(
    alone.map(({ choices }) => choices[0]?.text),
  );
  const ids = [
    [504, 2, 30],
    [10, 11, 12],
  ];
  const listed = await sdk.client.completions.create({ ...greedy(), prompt: ids });
  const [, single] = await Promise.all(
    ids.map((prompt) => sdk.client.completions.create({ ...greedy(), prompt })),
  );
  expect(listed.choices.map(({ index }) => index)).toEqual([0, 1]);
  expect(listed.choices[1]?.text).toBe(single?.choices[0]?.text);
});

test("a prompt is scored: log probabilities of its tokens, as text and as token ids", async () => {
  const request = { ...greedy(), max_tokens: 0, echo: true, logprobs: 2 };
  const scored = await sdk.client.completions.create(request);
  const [choice] = scored.choices;
  const { tokens = [], token_logprobs: own = [], top_logprobs: top = [] } = choice?.logprobs ?? {};
  expect(choice?.text).toBe(PROMPT);
  expect(tokens.join("")).toBe(PROMPT);
  expect(choice?.logprobs?.text_offset).toEqual(
    tokens.map((_, index) => tokens.slice(0, index).join("").length),
  );
  expect([own[0], top[0]]).toEqual([null, null]);
  for (const [index, token] of tokens.entries()) {
    if (index > 0) expect(top[index]).toHaveProperty([token], own[index]);
  }
  expect(scored.usage).toMatchObject({ prompt_tokens: tokens.length, completion_tokens: 0 });
  const ids = [504, 3575, 282];
  const other = await sdk.client.completions.create({ ...request, prompt: ids });
  expect(other.choices[0]?.logprobs?.tokens).toHaveLength(ids.length);
});

test("what is scored is what was generated, bit for bit; every token has its entry", async () => {
  const generated = await sdk.client.completions.create({ ...greedy(), logprobs: 0 });
  const [choice] = generated.choices;
  const tokens = choice?.logprobs?.tokens ?? [];
  expect(tokens).toHaveLength(8);
  expect(tokens.join("")).toBe(choice?.text);
  const text = `${PROMPT}${choice?.text}`;
  const request = { ...greedy(), prompt: text, max_tokens: 0, echo: true, logprobs: 0 };
  const scored = (await sdk.client.completions.create(request)).choices[0]?.logprobs;
  if (scored?.tokens?.slice(-8).join("") !== choice?.text) throw new Error("other tokens");
  expect(scored?.token_logprobs?.slice(-8)).toEqual(choice?.logprobs?.token_logprobs);
});

test("log probabilities of a stream join to those of the whole answer", async () => {
  const request = { ...greedy(), logprobs: 3, echo: true };
  const whole = (await sdk.client.completions.create(request)).choices[0]?.logprobs;
  const streamed: { tokens: string[]; offsets: number[] } = { tokens: [], offsets: [] };
  for await (const chunk of await sdk.client.completions.create({ ...request, stream: true })) {
    streamed.tokens.push(...(chunk.choices[0]?.logprobs?.tokens ?? []));
    streamed.offsets.push(...(chunk.choices[0]?.logprobs?.text_offset ?? []));
  }
  expect(streamed).toEqual({ tokens: whole?.tokens, offsets: whole?.text_offset });
});

test("choices of several prompts are streamed by index, reproducible and different", async () => {
  const request = { ...greedy(), prompt: [PROMPT, "One, two,"], n: 2, temperature: 1, seed: 5 };
  const whole = await sdk.client.completions.create(request);
  const texts = whole.choices.map(({ text }) => text);
  expect(texts[0]).not.toBe(texts[1]);
  const streamed = texts.map(() => "");
  for await (const { choices } of await sdk.client.completions.create({
    ...request,
    stream: true,
  })) {
    for (const { index, text } of choices) streamed[index] += text;
  }
  expect(streamed).toEqual(texts);
  expect(whole.usage?.completion_tokens).toBe(32);
});

test("special tokens in a text are text, unless asked for", async () => {
  const count = async (fields: object) => {
    const request = { ...greedy(), prompt: "<|im_start|>", max_tokens: 1, ...fields };
    return (await sdk.client.completions.create(request)).usage?.prompt_tokens;
  };
  expect(await count({})).toBeGreaterThan(1);
  expect(await count({ parse_special: true })).toBe(1);
});

test("errors arrive as the SDK's own classes", async () => {
  const ask = (fields: object) => sdk.client.completions.create({ ...greedy(), ...fields });
  await expect(ask({ prompt: [10, 99_999_999] })).rejects.toMatchObject({
    constructor: OpenAI.BadRequestError,
    code: "invalid_value",
    param: "prompt[1]",
  });
  await expect(ask({ suffix: "." })).rejects.toMatchObject({ code: "unsupported_parameter" });
  await expect(ask({ prompt: "word ".repeat(20_000), stream: true })).rejects.toMatchObject({
    code: "context_length_exceeded",
  });
});
