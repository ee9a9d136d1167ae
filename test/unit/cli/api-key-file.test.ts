import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { openApiKeys, reloadOnHangup } from "../../../src/cli/api-key-file.ts";

const folder = mkdtempSync(path.join(tmpdir(), "warmloop-keys-"));
const file = path.join(folder, "keys");
afterEach(() => {
  process.removeAllListeners("SIGHUP");
  rmSync(folder, { recursive: true });
});

test("SIGHUP reads the file again; a damaged file leaves the keys and its text stays out of the log", () => {
  const log: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => log.push(line) });
  writeFileSync(file, "alice sk-first-key\n");
  const apiKeys = openApiKeys(file);
  reloadOnHangup(apiKeys, file, logger);

  writeFileSync(file, "alice sk-second-key\n");
  process.emit("SIGHUP");
  expect(apiKeys.callerOf("sk-first-key")).toBeUndefined();
  expect(apiKeys.callerOf("sk-second-key")?.tenant).toBe("alice");

  writeFileSync(file, "alice sk-third-key what-is-this\n");
  process.emit("SIGHUP");
  expect(apiKeys.callerOf("sk-second-key")?.tenant).toBe("alice");
  expect(log.at(-1)).toContain("line 1 of the API key file");
  expect(log.join("")).not.toMatch(/sk-|what-is-this/);
});
