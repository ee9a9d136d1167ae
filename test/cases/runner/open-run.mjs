// What the cases of one run have in common: servers, variables, limits, the adapter.
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { makeServers } from "./servers.mjs";

/**
 * `url`, `model`, `apiKey`: of a server that runs already. `adapter`: a module as README.md has it.
 * `dataFolder`: what `shared:` stands for. To be closed.
 */
export function openRun({ timeoutS = 300, caseTimeoutS = 1200, ...given }) {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-cases-"));
  const vars = makeVars(folder);
  const servers = makeServers({ ...given, vars });
  return {
    adapter: given.adapter,
    extraOperators: given.adapter?.operators ?? {},
    ...{ vars, servers, timeoutS, caseTimeoutS },
    close: async () => {
      await servers.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `$TMP`, an empty folder, and a key file `$KEYS` whose first key is `$KEY1`. */
function makeVars(folder) {
  const key = `sk-case-${randomBytes(12).toString("hex")}`;
  const keys = path.join(folder, "keys.txt");
  writeFileSync(keys, `default ${key}\n`, { mode: 0o600 });
  const empty = path.join(folder, "empty");
  mkdirSync(empty);
  return { TMP: empty, KEYS: keys, KEY1: key };
}

export function readCases(file) {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}
