import { expect, test } from "vitest";
import { ApiError } from "../../../src/protocol/api-error.ts";
import { parseJsonObject } from "../../../src/protocol/parse-json.ts";

function parse(text: string) {
  return parseJsonObject(Buffer.from(text));
}

test("brackets inside strings do not count as nesting", () => {
  const text = JSON.stringify({ a: `${"[".repeat(500)}"\\` });
  expect(parse(text)).toEqual(JSON.parse(text));
});

test("nesting that real requests never reach is refused before it can exhaust the stack", () => {
  expect(parse(`{"a":${"[".repeat(199)}${"]".repeat(199)}}`)).toBeDefined();
  expect(() => parse(`{"a":${"[".repeat(1_000_000)}`)).toThrow(ApiError);
  expect(() => parse(`{"a":${"[".repeat(200)}${"]".repeat(200)}}`)).toThrow(/nested deeper/);
});

test.each(["", "[]", "null", "5", '"x"', "{", '{"a":}', '{"a":1}{', "\u0000", '{"a":"'])(
  "%j is invalid_json",
  (text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        status: 400,
        body: expect.objectContaining({ code: "invalid_json" }),
      }),
    );
  },
);

test("bytes of another encoding are refused, not replaced", () => {
  const latin1 = Buffer.from('{"a":"Äö"}', "latin1");
  expect(() => parseJsonObject(latin1)).toThrow(/UTF-8/);
});
