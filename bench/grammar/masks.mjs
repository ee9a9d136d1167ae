/**
 * Compile times of real tools and mask times along random calls of them: ours, xgrammar's and
 * node-llama-cpp's.
 */
import { performance } from "node:perf_hooks";
import { loadAddon } from "../../dist/native/load-addon.js";
import { PEER } from "../engine/peer-engine.mjs";
import { quantile, spread, summary } from "../results.mjs";
import { LlamaGrammars } from "./llama-grammars.mjs";
import { callTexts, specOf } from "./tool-texts.mjs";
import { XGrammar } from "./xgrammar.mjs";

const CALLS_PER_TOOL = 5;
/** Its masks take some thousand times as long. */
const LLAMA_CALLS_PER_TOOL = 1;

async function timed(work) {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

const timeOf = (work) => async () => (await timed(work)).ms;

/**
 * Milliseconds of each mask along the tokens, and of the faster one of two more right after it, up
 * to the first token that is not accepted.
 */
async function maskTimes(tokens, { maskMs, accept }) {
  const times = { first: [], again: [], isWhole: true };
  for (const token of tokens) {
    const [first, second, third] = [await maskMs(), await maskMs(), await maskMs()];
    times.first.push(first);
    times.again.push(Math.min(second, third));
    if (!accept(token)) return { ...times, isWhole: false };
  }
  return times;
}

/** The tools that compile, all times, and how many tools did not compile or refused a call. */
async function measureTools(tools, { tokensOf, compile, callsPerTool = CALLS_PER_TOOL }) {
  const times = { compileMs: [], maskMs: [], againMs: [] };
  const measured = { compiled: [], ...times, numRefused: 0, numUnlike: 0 };
  for (const tool of tools) {
    const { ms, result } = await timed(() => compile(tool));
    if (result === undefined) {
      measured.numRefused++;
      continue;
    }
    measured.compiled.push(tool);
    measured.compileMs.push(ms);
    for (const text of callTexts(tool, callsPerTool)) {
      const { first, again, isWhole } = await maskTimes(tokensOf(text), result());
      if (!isWhole) measured.numUnlike++;
      measured.maskMs.push(...first);
      measured.againMs.push(...again);
    }
  }
  return measured;
}

/** A fresh tokenizer would index its vocabulary anew; that is not part of a tool's time. */
function ourCompiler(tokenizer) {
  tokenizer.compileGrammar(JSON.stringify({ json_schema: { type: "boolean" } }));
  return (tool) => {
    try {
      const grammar = tokenizer.compileGrammar(specOf(tool));
      return () => {
        const matcher = grammar.matcher();
        return { maskMs: timeOf(matcher.mask), accept: matcher.accept };
      };
    } catch {
      return undefined;
    }
  };
}

async function xgrammarCompiler(facts, stopTokenIds) {
  const peer = new XGrammar(facts, stopTokenIds);
  await peer.warmUp();
  return async ({ inputSchema }) => {
    const matcher = await peer.compile(inputSchema);
    if (matcher === undefined) return undefined;
    return () => {
      matcher.reset();
      return {
        maskMs: timeOf(() => matcher.getNextTokenBitmask()),
        accept: (token) => matcher.acceptToken(token),
      };
    };
  };
}

/** One quantile of ours and the peer's; the ratio says how much less ours takes. */
function row(id, ours, theirs, q) {
  const [own, peer] = [ours, theirs].map((values) => quantile(values, q));
  return {
    id,
    unit: "ms",
    ours: { ...summary(ours), median: own },
    peer: { ...summary(theirs), median: peer },
    ratio: spread([peer / own]),
  };
}

const KINDS = { "compile/tools": "compileMs", "mask/tools": "maskMs", "mask/again": "againMs" };

function rowsOf(ours, theirs, suffix = "") {
  return Object.entries(KINDS).flatMap(([id, times]) => [
    row(`${id}/p50${suffix}`, ours[times], theirs[times], 0.5),
    row(`${id}/p99${suffix}`, ours[times], theirs[times], 0.99),
  ]);
}

/** The file's peer is xgrammar. */
function llamaRows(ours, theirs) {
  const name = `${PEER.name} ${PEER.version}`;
  return rowsOf(ours, theirs, `/${PEER.name}`).map((row) => ({
    ...row,
    peer: { name, ...row.peer },
  }));
}

/**
 * @param peerTools how many of the tools the peers, which are slow, are measured on
 * @returns rows, the tools that compile, and what to print about those that do not
 */
export async function measureMasks({ modelPath, tools, peerTools }) {
  const tokenizer = loadAddon().openTokenizer(modelPath);
  const tokensOf = (text) => tokenizer.encode(text, "text", false);
  const ours = await measureTools(tools, { tokensOf, compile: ourCompiler(tokenizer) });
  const stride = Math.max(1, Math.floor(tools.length / peerTools));
  const sample = tools.filter((_, i) => i % stride === 0);
  const compileX = await xgrammarCompiler(tokenizer.facts, [...tokenizer.facts.endIds]);
  const xgrammar = await measureTools(sample, { tokensOf, compile: compileX });
  const grammars = await LlamaGrammars.open(modelPath);
  const llama = await measureTools(sample, {
    tokensOf,
    compile: (tool) => grammars.compile(tool),
    callsPerTool: LLAMA_CALLS_PER_TOOL,
  });
  await grammars.close();
  const notes = [
    ["ours", tools.length, ours],
    ["xgrammar", sample.length, xgrammar],
    [PEER.name, sample.length, llama],
  ].map(
    ([who, total, { numRefused, numUnlike }]) =>
      `${who}: ${total} tools, ${numRefused} refused; ${numUnlike} calls not accepted`,
  );
  const rows = [...rowsOf(ours, xgrammar), ...llamaRows(ours, llama)];
  return { rows, compiled: ours.compiled, notes };
}
