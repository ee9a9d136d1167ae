/** Runs wl_tests, the C++ tests of test/native, and reports each of them as a test of its own. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "..");
const PROGRAM = path.join(ROOT, "native", "build", "wl_tests");

describe("C++ tests", () => {
  if (!existsSync(PROGRAM)) {
    test("wl_tests is built", () => {
      expect.fail("wl_tests is missing: run `node setup.mjs --dev`, as `npm test` does");
    });
    return;
  }
  const { stdout, stderr, status, signal } = spawnSync(PROGRAM, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });

  /** Lines of failed checks stand before the line of the test they belong to. */
  let checks: string[] = [];
  for (const line of stdout.split("\n")) {
    const result = /^(ok {2}|FAIL) (.+)$/.exec(line);
    if (result === null) {
      checks.push(line);
      continue;
    }
    const failure = result[1] === "FAIL" ? checks.join("\n") : undefined;
    checks = [];
    test(result[2] ?? line, () => {
      if (failure !== undefined) expect.fail(failure);
    });
  }

  test("the C++ test program runs to its end", () => {
    expect(stdout, stderr).toMatch(/\d+ passed, \d+ failed\n$/);
    expect(signal).toBeNull();
    expect([0, 1]).toContain(status);
  });
});
