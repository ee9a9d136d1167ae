import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "./test/temporary-folder.ts",
    // A native crash then fails one file instead of the whole run.
    pool: "forks",
    maxWorkers: 2,
    // Nothing passes or fails by being quick: a limit only ends a test that hangs, on a machine that
    // may have ten things to do at once.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 120_000,
    expect: { poll: { timeout: 300_000 } },
    reporters: ["default", "./test/closing-line.ts"],
  },
});
