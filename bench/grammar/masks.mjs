/** Compile times of real tools and mask times along random calls of them: ours and xgrammar's. */
import { performance } from "node:perf_hooks";
import { loadAddon } from "../../dist/native/load-addon.js";
import { quantile, spread, summary } from "../results.mjs";
import { callTexts, specOf } from "./tool-texts.mjs";
import { XGrammar } from "./xgrammar.mjs";

const CALLS_PER_TOOL = 5;

async function timed(work) {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

/**
 * Milliseconds of each mask along the tokens, and of the faster one of two more right after it;
 * undefined: a token was not accepted.
 */
async function maskTimes(tokens, { mask, accept }) {
  const times = { first: [], again: [] };
  for (const token of tokens) {
    const [first, second, third] = [await timed(mask), await timed(mask), await timed(mask)];
    times.first.push(first.ms);
    times.again.push(Math.min(second.ms, third.ms));
    if (!accept(token)) return undefined;
  }
  return times;
}

/** The tools that compile, all times, and how many tools did not compile or refused a call. */
async function measureTools(tools, tokensOf, compile) {
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
    for (const text of callTexts(tool, CALLS_PER_TOOL)) {
      const times = await maskTimes(tokensOf(text), result());
      if (times === undefined) measured.numUnlike++;
      measured.maskMs.push(...(times?.first ?? []));
      measured.againMs.push(...(times?.again ?? []));
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
        return { mask: matcher.mask, accept: matcher.accept };
      };
    } catch {
      return undefined;
    }
  };
}

async function peerCompiler(facts, stopTokenIds) {
  const peer = new XGrammar(facts, stopTokenIds);
  await peer.warmUp();
  return async ({ inputSchema }) => {
    const matcher = await peer.compile(inputSchema);
    if (matcher === undefined) return undefined;
    return () => {
      matcher.reset();
      return {
        mask: () => matcher.getNextTokenBitmask(),
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

/**
 * @param peerTools how many of the tools the peer, which is slow to compile, is measured on
 * @returns rows, the tools that compile, and what to print about those that do not
 */
export async function measureMasks({ modelPath, tools, peerTools }) {
  const tokenizer = loadAddon().openTokenizer(modelPath);
  const tokensOf = (text) => tokenizer.encode(text, "text", false);
  const ours = await measureTools(tools, tokensOf, ourCompiler(tokenizer));
  const stride = Math.max(1, Math.floor(tools.length / peerTools));
  const sample = tools.filter((_, i) => i % stride === 0);
  const compilePeer = await peerCompiler(tokenizer.facts, [...tokenizer.facts.endIds]);
  const theirs = await measureTools(sample, tokensOf, compilePeer);
  const notes = [
    ["ours", tools.length, ours],
    ["peer", sample.length, theirs],
  ].map(
    ([who, total, { numRefused, numUnlike }]) =>
      `${who}: ${total} tools, ${numRefused} refused; ${numUnlike} calls not accepted`,
  );
  const kinds = { "compile/tools": "compileMs", "mask/tools": "maskMs", "mask/again": "againMs" };
  const rows = Object.entries(kinds).flatMap(([id, times]) => [
    row(`${id}/p50`, ours[times], theirs[times], 0.5),
    row(`${id}/p99`, ours[times], theirs[times], 0.99),
  ]);
  return { rows, compiled: ours.compiled, notes };
}
