import { describe, expect, test } from "vitest";
import { ExitError } from "../../../src/base/exit-error.ts";
import { explainFailure } from "../../../src/cli/explain-failure.ts";

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

describe("explainFailure", () => {
  test.each([
    ["usage", 2],
    ["modelFile", 3],
    ["build", 4],
    ["download", 5],
    ["addressInUse", 6],
    ["other", 1],
  ] as const)("an ExitError of %s ends with %i", (reason, exitCode) => {
    expect(explainFailure(new ExitError(reason, "why"))).toEqual({ message: "why", exitCode });
  });

  test.each([
    ["ERR_MODEL_FORMAT", 3],
    ["ERR_TOKENIZER_TYPE", 3],
    ["ERR_INVALID_ARGUMENT", 2],
    ["ERR_LICENSE_NOT_ACCEPTED", 2],
    ["ERR_DOWNLOAD_CHECKSUM", 5],
    ["ERR_ENGINE_FAILED", 1],
  ])("%s ends with %i and its code is said once", (code, exitCode) => {
    const message = `${code}: why`;
    expect(explainFailure(withCode(code, "why"))).toEqual({ message, exitCode });
    expect(explainFailure(withCode(code, message))).toEqual({ message, exitCode });
  });

  test("control characters and line ends do not reach the terminal", () => {
    const { message } = explainFailure(new Error("a\u001b]0;x\u0007\nb\u009d"));
    expect(message).toBe("a\\x1b]0;x\\x07 b\\x9d");
  });
});
