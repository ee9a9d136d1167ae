import { expect, test } from "vitest";
import { FreeFormInput } from "../../../src/text/output/free-form-input.ts";

const INPUT = '*** Begin "Patch"\n+a\\b\t{"input": "x"} 👍 é\u0001';

test.each([
  ["as Python writes it", `{"input": ${JSON.stringify(INPUT)}}`],
  ["tight", JSON.stringify({ input: INPUT })],
  [
    "with escaped halves of characters",
    `{"input": "${[...INPUT]
      .map((c) =>
        c
          .split("")
          .map((u) => `\\u${u.charCodeAt(0).toString(16).padStart(4, "0")}`)
          .join(""),
      )
      .join("")}"}`,
  ],
  [
    "beside other arguments",
    `{"a": "\\"input", "b": {"input": "no"}, "input": ${JSON.stringify(INPUT)}}`,
  ],
])("the input of a free-form tool streams unescaped: %s", (_, args) => {
  const whole = new FreeFormInput();
  expect(whole.push(args)).toBe(INPUT);
  for (let size = 1; size < 9; size++) {
    const input = new FreeFormInput();
    const deltas: string[] = [];
    for (let at = 0; at < args.length; at += size) {
      deltas.push(input.push(args.slice(at, at + size)));
    }
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
    expect(deltas.join("")).toBe(INPUT);
  }
});
