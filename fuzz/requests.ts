/**
 * Mutated requests and frames against a really started server with a tiny model: `npm run fuzz -- requests
 * [NUMBER] [FROM]`. Number k makes the same request in every run, so a run goes on where another stopped.
 * A finding is an answer that is neither a result nor a coded error, a server that is gone, or memory
 * that grows. Findings are written to fuzz/scratch/requests; the counts are printed.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startServer, type StartedServer } from "../test/e2e/cli-process.ts";
import { TINY_MODEL } from "../test/fixture-models.ts";
import { seededRandom } from "../test/seeded-random.ts";
import { BASE_REQUESTS } from "./requests/bases.ts";
import { HttpClient, SocketClient } from "./requests/exchange.ts";
import { type MutatedRequest, mutate, pick } from "./requests/mutate.ts";

const SCRATCH = path.join(import.meta.dirname, "scratch/requests");
const TEMPLATE = path.join(import.meta.dirname, "../test/golden/chat/own-chatml-tools.jinja");
const CLIENTS = 8;
const REPORT_EVERY = 2_000;
/** Of the last quarter over the third: by then heaps and caches have their size, but for the waves of a collector. */
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;

interface Tally {
  next: number;
  numFaults: number;
  numDone: number;
  numResults: number;
  /** Resident bytes at each report. */
  readonly resident: number[];
}

function makeRequest(index: number, modelId: string): MutatedRequest {
  const random = seededRandom(index);
  return mutate(pick(random, BASE_REQUESTS), modelId, random);
}

function residentBytes({ process: { child } }: StartedServer): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

async function runClient(server: StartedServer, end: number, tally: Tally): Promise<void> {
  const http = new HttpClient(server.url);
  const socket = new SocketClient(server.url);
  while (tally.next < end) {
    const index = tally.next++;
    const request = makeRequest(index, server.modelId);
    const { kind, fault } = await (request.transport === "ws" ? socket : http).send(request);
    if (kind === "result") ++tally.numResults;
    if (fault !== undefined) report(index, request, fault, tally);
    if (++tally.numDone % REPORT_EVERY === 0) progress(server, tally);
  }
  http.close();
  socket.close();
}

function report(index: number, request: MutatedRequest, fault: string, tally: Tally): void {
  ++tally.numFaults;
  console.error(`${index}: ${request.transport} ${request.method} ${request.path}: ${fault}`);
  writeFileSync(path.join(SCRATCH, `${index}.json`), request.payload);
}

function progress(server: StartedServer, tally: Tally): void {
  const bytes = residentBytes(server);
  tally.resident.push(bytes);
  const mebibytes = Math.round(bytes / 2 ** 20);
  console.log(`${tally.numDone} answered, ${tally.numFaults} findings, ${mebibytes} MiB resident`);
}

function growthOf({ resident }: Tally): number {
  const quarter = Math.floor(resident.length / 4);
  if (quarter === 0) return 0;
  return mean(resident.slice(-quarter)) - mean(resident.slice(-2 * quarter, -quarter));
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

async function fuzzServer(server: StartedServer, count: number, from: number): Promise<boolean> {
  const tally: Tally = { next: from, numFaults: 0, numDone: 0, numResults: 0, resident: [] };
  await Promise.all(Array.from({ length: CLIENTS }, () => runClient(server, from + count, tally)));
  const health = await fetch(`${server.url}/health`);
  const growth = growthOf(tally);
  const { numDone, numResults, numFaults } = tally;
  console.log(`${numDone} requests: ${numResults} results, ${numDone - numResults} refusals`);
  console.log(`${numFaults} findings, server ${health.status}`);
  console.log(`memory grew by ${Math.round(growth / 2 ** 20)} MiB in the last quarter`);
  return numFaults === 0 && health.ok && growth <= MAX_GROWTH_BYTES;
}

const [count = 100_000, from = 0] = process.argv.slice(2).map(Number);
mkdirSync(SCRATCH, { recursive: true });
const flags = ["--chat-template", TEMPLATE, "--kv-memory", "16MiB"];
const small = ["--store-dir", "none", "--store-size", "1MiB"];
const server = await startServer(["--model", TINY_MODEL, ...flags, ...small]);
try {
  process.exitCode = (await fuzzServer(server, count, from)) ? 0 : 1;
} finally {
  await server[Symbol.asyncDispose]();
}
