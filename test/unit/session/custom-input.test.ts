import { expect, test } from "vitest";
import { CustomInput } from "../../../src/session/custom-input.ts";
import { seededRandom } from "../../seeded-random.ts";

function read(pieces: readonly string[]): { streamed: string; whole: string } {
  const input = new CustomInput();
  const streamed = pieces.map((piece) => input.push(piece)).join("");
  return { streamed, whole: streamed + input.finish() };
}

const PATCH = '*** Begin Patch\n+say "hi"\t\\ 漢字 🐚 \u0001\n*** End Patch\n';
const escapes: readonly (readonly [text: string, json: string])[] = [
  [PATCH, JSON.stringify({ input: PATCH })],
  [PATCH, ` { "input" : ${JSON.stringify(PATCH)} } `],
  ["🐚é/", '{"input": "\\ud83d\\uDC1A\\u00e9\\/"}'],
  ["", '{"input": ""}'],
];

test.each(escapes)(
  "the text %j streams out of its arguments, however they are cut",
  (text, json) => {
    const random = seededRandom(5);
    expect(read([json])).toEqual({ streamed: text, whole: text });
    expect(read([...json])).toEqual({ streamed: text, whole: text });
    for (let run = 0; run < 50; run++) {
      const at = Math.floor(random() * json.length);
      const next = at + Math.floor(random() * (json.length - at));
      const pieces = [json.slice(0, at), json.slice(at, next), json.slice(next)];
      expect(read(pieces)).toEqual({ streamed: text, whole: text });
    }
  },
);

test("no delta ends inside a character", () => {
  const input = new CustomInput();
  expect(input.push('{"input": "a\\ud83d')).toBe("a");
  expect(input.push("\\udc1")).toBe("");
  expect(input.push("ab\ud83d")).toBe("🐚b");
  expect(input.push('\udc1a"}')).toBe("🐚");
});

test.each([
  ['{"path": "a", "input": "text"}', "text"],
  ['{"input": 5}', '{"input": 5}'],
  ['{"text": "a"}', '{"text": "a"}'],
  ["{}", "{}"],
])("arguments of another shape, %s, give the input %j at the end", (json, text) => {
  expect(read([...json])).toEqual({ streamed: "", whole: text });
});

test("a lone surrogate that is written as an escape does not stop the text", () => {
  expect(read(['{"input": "a\\ud83d b"}']).whole).toBe("a\ud83d b");
});
