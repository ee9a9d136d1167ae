import { expect, test } from "vitest";
import { JsonScanner } from "../../../src/text/output/json-scanner.ts";
import { seededRandom } from "../../seeded-random.ts";

function isWholeObject(text: string): boolean {
  const scanner = new JsonScanner();
  for (let i = 0; i < text.length; i++) scanner.push(text.charAt(i));
  return scanner.state === "end";
}

function parsesAsObject(text: string): boolean {
  try {
    return /^\s*\{/.test(text) && JSON.parse(text) !== null;
  } catch {
    return false;
  }
}

test("the scanner accepts exactly the objects that JSON.parse accepts", () => {
  const random = seededRandom(3);
  const seeds = [
    '{"a": [1, -0.5e+3, 10, true, false, null, "x\\u00e9\\n\\\\"], "b": {}, "c": []}',
    '{ "k" : { "n" : [ [ ] , { "m" : 0 } ] } }',
    '{"é": "\\ud83d\\ude00", "": 1E5}',
  ];
  const alphabet = '{}[]",:\\u0123456789+-.eEtrufalsn \n\tx\u0001';
  let numAccepted = 0;
  for (let round = 0; round < 20_000; round++) {
    let text = seeds[round % seeds.length] ?? "";
    for (let edits = Math.floor(random() * 3); edits > 0; edits--) {
      const at = Math.floor(random() * text.length);
      const put = alphabet.charAt(Math.floor(random() * alphabet.length));
      text = text.slice(0, at) + put + text.slice(at + Math.floor(random() * 2));
    }
    const trimmed = text.trimEnd();
    expect(isWholeObject(trimmed), trimmed).toBe(parsesAsObject(trimmed));
    if (isWholeObject(trimmed)) numAccepted++;
  }
  expect(numAccepted).toBeGreaterThan(1000);
});
