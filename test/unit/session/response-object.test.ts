/** What a response says of its request, in every state. */
import { describe, expect, it } from "vitest";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import type { ResponseEvent, ResponsesRequest } from "../../../src/protocol/responses-types.ts";
import { createFixture, says } from "./session-fixture.ts";

function requestOf(fields: Readonly<Record<string, unknown>> = {}): ResponsesRequest {
  return parseResponsesRequest({ model: "m", input: "go", ...fields }, "http");
}

function responsesOf(events: readonly ResponseEvent[]) {
  return events.flatMap((event) => ("response" in event ? [event.response] : []));
}

const KEYS = [
  "id object created_at completed_at status background error frequency_penalty incomplete_details",
  "instructions max_output_tokens max_tool_calls metadata model output parallel_tool_calls",
  "presence_penalty previous_response_id prompt_cache_key prompt_cache_retention reasoning safety_identifier",
  "service_tier store temperature text tool_choice tools top_logprobs top_p truncation usage user",
]
  .join(" ")
  .split(" ");

describe("a response", () => {
  it("has every key in every state", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({ ...says("Hi there"), isQueued: true });
    const { events } = await fixture.run(requestOf());
    const responses = responsesOf(events);
    expect(responses.map(({ status }) => status)).toEqual([
      "queued",
      "queued",
      "in_progress",
      "completed",
    ]);
    for (const response of responses)
      expect(Object.keys(response).toSorted()).toEqual(KEYS.toSorted());
  });

  it("says the defaults", async () => {
    const { response } = await createFixture().run(requestOf());
    expect(response).toMatchObject({
      object: "response",
      background: false,
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      reasoning: { effort: null, summary: null },
      service_tier: "default",
      store: true,
      temperature: 1,
      text: { format: { type: "text" }, verbosity: "medium" },
      tool_choice: "auto",
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: "disabled",
    });
  });

  it("repeats the fields as they were sent", async () => {
    const fields = {
      instructions: "Be brief.",
      max_output_tokens: 99,
      max_tool_calls: 3,
      metadata: { a: "b" },
      parallel_tool_calls: false,
      prompt_cache_key: "key",
      prompt_cache_retention: "24h",
      reasoning: { effort: "low", summary: "auto" },
      safety_identifier: "s",
      store: false,
      temperature: 0.5,
      text: { format: { type: "json_object" }, verbosity: "low" },
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "shell" }] },
      tools: [
        { type: "web_search" },
        { type: "shell" },
        { type: "namespace", name: "n", tools: [] },
      ],
      top_p: 0.9,
      user: "u",
    };
    const { response } = await createFixture().run(requestOf(fields));
    expect(response).toMatchObject(fields);
  });

  it("has the fields of a function and of a format that were not sent", async () => {
    const format = { type: "json_schema", name: "n", schema: { type: "object" } };
    const { response } = await createFixture().run(
      requestOf({ tools: [{ type: "function", name: "ls" }], text: { format } }),
    );
    expect(response.tools).toEqual([
      { type: "function", name: "ls", description: null, parameters: null, strict: null },
    ]);
    expect(response.text).toEqual({
      verbosity: "medium",
      format: { ...format, description: null, strict: null },
    });
  });

  it.each([
    ["http", "sse", true],
    ["http", "ws", false],
    ["all", "ws", true],
    ["none", "http", false],
  ] as const)(
    "with echo %s on %s: instructions and tools are repeated: %s",
    async (echo, transport, isEchoing) => {
      const fields = { instructions: "Be brief.", tools: [{ type: "web_search" }] };
      const { response } = await createFixture({ echo }).run(requestOf(fields), { transport });
      expect(response).toMatchObject(isEchoing ? fields : { instructions: null, tools: [] });
    },
  );
});

describe("settings in the conversation", () => {
  const low = { type: "configuration_update", reasoning: { effort: "low" } };
  const json = { type: "configuration_update", text: { format: { type: "json_object" } } };
  const user = (content: string) => ({ role: "user", content });

  it("hold from their item on, and the request's own fields win over earlier ones", async () => {
    const fixture = createFixture();
    const efforts: (string | undefined)[] = [];
    const { render } = fixture.template;
    fixture.template.render = (messages, options) => {
      efforts.push(options.reasoningEffort);
      return render.call(fixture.template, messages, options);
    };
    const run = async (fields: Readonly<Record<string, unknown>>) => {
      efforts.length = 0;
      const { response } = await fixture.run(requestOf(fields));
      return { id: response.id, effort: efforts[0] };
    };
    const input = [user("a"), low];
    const first = await run({ input, reasoning: { effort: "high" } });
    expect(first.effort).toBe("low");
    const second = await run({ previous_response_id: first.id, input: [user("b")] });
    expect(second.effort).toBe("low");
    const reasoning = { effort: "high" };
    const third = await run({ previous_response_id: second.id, input: [user("c")], reasoning });
    expect(third.effort).toBe("high");
  });

  it("may ask for another form of the answer, and are not read by the model", async () => {
    const fixture = createFixture();
    const { response } = await fixture.run(requestOf({ input: [user("a"), json] }));
    expect(fixture.tokenizer.preparedGrammars).toHaveLength(1);
    expect(fixture.template.rendersOf("a")).toEqual([[{ role: "user", content: "a" }]]);
    await fixture.run(requestOf({ previous_response_id: response.id, input: "b" }));
    expect(fixture.tokenizer.preparedGrammars).toHaveLength(2);
  });
});
