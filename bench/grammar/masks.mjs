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

/** Milliseconds of each mask along the tokens; undefined: a token was not accepted. */
async function maskTimes(tokens, { mask, accept }) {
  const times = [];
  for (const token of tokens) {
    times.push((await timed(mask)).ms);
    if (!accept(token)) return undefined;
  }
  return times;
}

/** {tool, compileMs, maskMs} of every tool that compiles, and how many did not or refused a call. */
async function measureTools(tools, tokensOf, compile) {
  const measured = { tools: [], numRefused: 0, numUnlike: 0 };
  for (const tool of tools) {
    const { ms, result } = await timed(() => compile(tool));
    if (result === undefined) {
      measured.numRefused++;
      continue;
    }
    const maskMs = [];
    for (const text of callTexts(tool, CALLS_PER_TOOL)) {
      const times = await maskTimes(tokensOf(text), result());
      if (times === undefined) measured.numUnlike++;
      else maskMs.push(...times);
    }
    measured.tools.push({ tool, compileMs: ms, maskMs });
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

const compileTimes = ({ tools }) => tools.map(({ compileMs }) => compileMs);
const allMasks = ({ tools }) => tools.flatMap(({ maskMs }) => maskMs);

/** One quantile of ours and the peer's; the ratio says how much less ours takes. */
function row(id, ours, theirs, q) {
  const [own, peer] = [ours, theirs].map((values) => quantile(values, q));
  return {
    id,
    unit: "ms",
    ours: { ...summary(ours), median: own },
    peer: { ...summary(theirs), median: peer },
    ratio: spread([peer / own]),
    disturbed: false,
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
  const rows = [
    row("compile/tools/p50", compileTimes(ours), compileTimes(theirs), 0.5),
    row("compile/tools/p99", compileTimes(ours), compileTimes(theirs), 0.99),
    row("mask/tools/p50", allMasks(ours), allMasks(theirs), 0.5),
    row("mask/tools/p99", allMasks(ours), allMasks(theirs), 0.99),
  ];
  return { rows, compiled: ours.tools.map(({ tool }) => tool), notes };
}
