/**
 * What a grammar costs a decoding engine, or gives it: rates with a grammar over the rate of free
 * decoding of the same engine, ours and the peer's, each against itself.
 */
import { performance } from "node:perf_hooks";
import { openNativeEngine } from "../../dist/engine/native-engine.js";
import { loadAddon } from "../../dist/native/load-addon.js";
import { loadPeer } from "../engine/peer-engine.mjs";
import { specOf } from "./tool-texts.mjs";

const OUTPUT_TOKENS = 128;

/** One string that does not end before the output does. */
const LONG_STRING = { type: "string", minLength: 600 };
/** Long names between short values. */
const FLAGS = {
  type: "object",
  properties: Object.fromEntries(
    ["include_archived_results", "case_sensitive_matching", "follow_symbolic_links"].map((name) => [
      name,
      { type: "boolean" },
    ]),
  ),
  required: ["include_archived_results", "case_sensitive_matching", "follow_symbolic_links"],
  additionalProperties: false,
};

export const SCHEMAS = { string: LONG_STRING, flags: FLAGS };

/** Tokens a second of `generate()`, which gives how many tokens came. */
async function rate(generate) {
  const start = performance.now();
  const count = await generate();
  return (1000 * count) / (performance.now() - start);
}

/** kind -> rates, one a round; the kinds take turns, behind one round that does not count. */
async function rates(kinds, rounds) {
  const all = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [kind, generate] of Object.entries(kinds)) {
      const value = await rate(generate);
      if (round >= 0) all[kind].push(value);
    }
  }
  return all;
}

/** `free`, one of each schema, and `tools`: calls of these tools one after the other. */
export async function ourRates({ modelPath, threads, prompt, tools, rounds }) {
  const tokenizer = loadAddon().openTokenizer(modelPath);
  const engine = await openNativeEngine({ modelPath, threads, kvMemoryBytes: 2 ** 28 });
  const stopTokenIds = tokenizer.facts.endIds;
  const tokens = tokenizer.encode(prompt, "text", true);
  const generate = async (grammar) => {
    const request = { tokens, maxOutputTokens: OUTPUT_TOKENS };
    const held = grammar === undefined ? {} : { grammar, stopTokenIds };
    return (await engine.runTokens({ ...request, ...held })).tokens.length;
  };
  const grammars = Object.entries(SCHEMAS).map(([kind, schema]) => {
    const grammar = tokenizer.compileGrammar(JSON.stringify({ json_schema: schema }));
    return [kind, () => generate(grammar)];
  });
  const calls = tools.map((tool) => tokenizer.compileGrammar(specOf(tool)));
  const callAll = async () => {
    let count = 0;
    for (const grammar of calls) count += await generate(grammar);
    return count;
  };
  const kinds = { free: () => generate(), ...Object.fromEntries(grammars), tools: callAll };
  const result = await rates(kinds, rounds);
  const { isa } = engine.info;
  await engine.close();
  return { rates: result, isa };
}

/** `free` and one of each schema. */
export async function peerRates({ modelPath, threads, prompt, rounds }) {
  const { library, llama, model } = await loadPeer(modelPath);
  const context = await model.createContext({ threads, contextSize: 1024, batchSize: 512 });
  const sequence = context.getSequence();
  const tokens = model.tokenize(prompt);
  const generate = async (grammar) => {
    await sequence.clearHistory();
    const held =
      grammar === undefined
        ? {}
        : { grammarEvaluationState: new library.LlamaGrammarEvaluationState({ model, grammar }) };
    let count = 0;
    for await (const _ of sequence.evaluate(tokens, { temperature: 0, ...held })) {
      if (++count === OUTPUT_TOKENS) break;
    }
    return count;
  };
  const kinds = { free: () => generate() };
  for (const [kind, schema] of Object.entries(SCHEMAS)) {
    const grammar = await llama.createGrammarForJsonSchema(schema);
    kinds[kind] = () => generate(grammar);
  }
  const result = await rates(kinds, rounds);
  for (const part of [context, model, llama]) await part.dispose();
  return result;
}
