/**
 * `npm run check:codex`: the real Codex CLI against a really started server, over WebSocket and over HTTP:
 * `codex exec`, then `codex exec resume`. Passes when each ends with exit code 0, a completed turn and no
 * error item, and the server saw on WebSocket one upgrade and one warmup a run and nothing but
 * continuations after it. Once more with a model that calls a tool: Codex runs it and sends the result.
 * The model's answers are scripted (it still runs, held to them), so that a small one cannot ramble to the
 * end of its context, which is a failed turn to Codex; `--free` lets it say what it likes where it calls no
 * tool. Codex (424 MB) is installed into `scratch/` on the first run.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { CODEX_KEY_VARIABLE, codexConfig } from "../../src/cli/codex-settings.ts";
import { startServer } from "../e2e/cli-process.ts";

const VERSION = "0.171.0";
const SCRATCH = path.join(import.meta.dirname, "scratch");
const CODEX = path.join(SCRATCH, "node_modules", ".bin", "codex");

const { values: flags } = parseArgs({
  options: {
    prompt: { type: "string", default: "What is the capital of France? Answer in one word." },
    again: { type: "string", default: "And of Italy?" },
    transports: { type: "string", default: "WebSocket,HTTP" },
    free: { type: "boolean", default: false },
    "timeout-seconds": { type: "string", default: "600" },
  },
});

function installCodex() {
  mkdirSync(SCRATCH, { recursive: true });
  if (existsSync(CODEX)) return;
  writeFileSync(path.join(SCRATCH, "package.json"), '{ "private": true }\n');
  const install = [
    "install",
    "--no-audit",
    "--no-fund",
    "--save-exact",
    `@openai/codex@${VERSION}`,
  ];
  execFileSync("npm", install, { cwd: SCRATCH, stdio: "inherit" });
}

/** A folder for one transport: Codex' home and an empty git repository to work in. */
async function makeHome(server, contextTokens, usesWebSocket) {
  const folder = mkdtempSync(path.join(SCRATCH, "home-"));
  const catalog = path.join(folder, "catalog.json");
  const models = await (await fetch(`${server.url}/v1/models`)).text();
  writeFileSync(catalog, models);
  const facts = { url: server.url, modelId: server.modelId, contextTokens };
  const mode = 'approval_policy = "never"\nsandbox_mode = "read-only"\n';
  writeFileSync(
    path.join(folder, "config.toml"),
    mode + codexConfig(facts, catalog, usesWebSocket),
  );
  const work = path.join(folder, "work");
  mkdirSync(work);
  execFileSync("git", ["init", "-q"], { cwd: work });
  return { folder, work };
}

/** Runs `codex exec ARGS --json`. Codex on HTTP retries a server that is gone for ever: hence the limit. */
async function runCodex({ folder, work }, args) {
  const child = spawn(CODEX, ["exec", "--skip-git-repo-check", "--json", ...args], {
    cwd: work,
    env: { ...process.env, CODEX_HOME: folder, [CODEX_KEY_VARIABLE]: "none" },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: Number(flags["timeout-seconds"]) * 1000,
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const exitCode = await new Promise((resolve) => child.on("close", resolve));
  const events = output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  return { exitCode, events };
}

/** What is wrong with one run, in words. */
function faultsOfRun({ exitCode, events }) {
  const errors = events.filter(({ type, item }) => type === "error" || item?.type === "error");
  return [
    ...(exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(events.some(({ type }) => type === "turn.completed") ? [] : ["no turn.completed"]),
    ...errors.map((event) => `error: ${JSON.stringify(event)}`),
  ];
}

/** Lines of the server's log about requests, in order. */
function requestsOf(server) {
  return server.process.stderr
    .concat(server.process.stdout)
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

/** One upgrade and one warmup a run; what follows continues from it. */
function faultsOfSockets(log, numRuns) {
  const upgrades = log.filter(({ msg }) => msg === "websocket opened").length;
  const responses = log.filter(({ msg }) => msg === "websocket response");
  const warmups = responses.filter(({ generate }) => !generate).length;
  const fresh = responses.filter(({ generate, isContinuation }) => generate && !isContinuation);
  const posts = log.filter(({ msg, method }) => msg === "http" && method === "POST").length;
  console.log(
    `  ${upgrades} upgrades, ${warmups} warmups, ${responses.length - warmups} requests, ` +
      `${fresh.length} of them without previous_response_id, ${posts} over HTTP`,
  );
  return [
    ...(upgrades === numRuns ? [] : [`${upgrades} upgrades in ${numRuns} runs`]),
    ...(warmups === numRuns ? [] : [`${warmups} warmups in ${numRuns} runs`]),
    ...(fresh.length === 0 ? [] : [`${fresh.length} requests with full input`]),
    ...(posts === 0 ? [] : [`${posts} requests over HTTP`]),
  ];
}

const CALL = { name: "exec_command", arguments: { cmd: "echo hello" } };

/** Environment of a server whose model says these texts, one a turn. */
function scripted(texts) {
  const hook = pathToFileURL(
    path.join(import.meta.dirname, "../cases/adapter/scripted-answers.mjs"),
  );
  return { NODE_OPTIONS: `--import=${hook.href}`, WARMLOOP_TEST_SCRIPT: JSON.stringify(texts) };
}

const CALL_TEXT = `<tool_call>\n${JSON.stringify(CALL)}\n</tool_call>`;

async function check(transport, callsTool) {
  const title = callsTool ? `${transport}, with a tool call` : transport;
  console.log(`${title}:`);
  const answers = ["Paris.", "Rome."];
  const texts = callsTool ? [CALL_TEXT, ...answers] : answers;
  const env = flags.free && !callsTool ? {} : scripted(texts);
  const server = await startServer(["--log-level", "debug"], { env });
  try {
    const faults = await faultsOfTransport(server, transport, callsTool);
    return faults.map((fault) => `${title}: ${fault}`);
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

async function faultsOfTransport(server, transport, callsTool) {
  const { models } = await (await fetch(`${server.url}/v1/models`)).json();
  const usesWebSocket = transport === "WebSocket";
  const home = await makeHome(server, models[0].context_window, usesWebSocket);
  const first = await runCodex(home, [flags.prompt]);
  const hasCalled = first.events.some(({ item }) => item?.type === "command_execution");
  const threadId = first.events.find(({ type }) => type === "thread.started")?.thread_id;
  const runs = [first];
  if (threadId !== undefined) runs.push(await runCodex(home, ["resume", threadId, flags.again]));
  for (const { exitCode, events } of runs) {
    const items = events.flatMap(({ type, item }) => (type === "item.completed" ? [item] : []));
    const { usage } = events.findLast(({ type }) => type === "turn.completed") ?? {};
    console.log(
      `  exit ${exitCode}`,
      JSON.stringify({ items: items.map(({ type }) => type), usage }),
    );
  }
  rmSync(home.folder, { recursive: true, force: true });
  return [
    ...runs.flatMap(faultsOfRun),
    ...(callsTool && !hasCalled ? ["the command was not run"] : []),
    ...(threadId === undefined ? ["no thread was started"] : []),
    ...(usesWebSocket ? faultsOfSockets(requestsOf(server), runs.length) : []),
  ];
}

installCodex();
const faults = [];
for (const transport of flags.transports.split(",")) {
  for (const callsTool of [false, true]) faults.push(...(await check(transport, callsTool)));
}
for (const fault of faults) console.error(fault);
console.log(faults.length === 0 ? "ok" : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
