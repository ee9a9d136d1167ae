/** Masks against xgrammar's: the same tokens at every step of random walks. */
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { NativeTokenizer, TokenizerFacts } from "../../src/native/addon-types.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import { cachedModel } from "../cached-model.ts";
import { seededRandom } from "../seeded-random.ts";
import { Oracle, type OracleGrammar } from "./xgrammar.ts";

const GOLDEN = path.join(import.meta.dirname, "../golden/tokenizers");
const WALKS = 6;
const STEPS = 40;

const weather = {
  type: "object",
  properties: {
    city: { type: "string" },
    unit: { enum: ["celsius", "fahrenheit", "kelvin"] },
    days: { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 3 },
    alerts: { type: "boolean" },
  },
  required: ["city", "days"],
};

const tree = {
  $ref: "#/$defs/node",
  $defs: {
    node: {
      type: "object",
      properties: {
        name: { type: "string" },
        children: { type: "array", items: { $ref: "#/$defs/node" } },
      },
      required: ["name", "children"],
    },
  },
};

const number = { regex: "[0-9]+" };
const grammars: readonly (readonly [name: string, spec: object, oracle: OracleGrammar])[] = [
  ["an object", closed(weather), { schema: weather }],
  ["a recursive schema", closed(tree), { schema: tree }],
  [
    "a union of constants",
    closed({ anyOf: [{ const: "on" }, { const: 1 }, { type: "null" }, { const: "only" }] }),
    { schema: { anyOf: [{ const: "on" }, { const: 1 }, { type: "null" }, { const: "only" }] } },
  ],
  [
    "a sum",
    {
      sequence: [number, { repeat: { sequence: [{ literal: " + " }, number] } }, { literal: ";" }],
    },
    { ebnf: 'root ::= n (" + " n)* ";"\nn ::= [0-9]+' },
  ],
  [
    "characters of several bytes",
    {
      sequence: [
        {
          repeat: { choice: ["naïve ", "漢字", "🐚", "a"].map((literal) => ({ literal })) },
          max: 9,
        },
        { literal: ">" },
      ],
    },
    { ebnf: 'root ::= ("naïve " | "漢字" | "🐚" | "a"){0,9} ">"' },
  ],
  [
    "words with common beginnings",
    {
      repeat: { choice: ["the ", "then ", "there ", "them"].map((literal) => ({ literal })) },
      max: 4,
    },
    { ebnf: 'root ::= ("the " | "then " | "there " | "them"){0,4}' },
  ],
];

/** xgrammar's strict mode allows no members but the declared ones. */
function closed(schema: object): object {
  return { json_schema: withoutExtra(schema) };
}

function withoutExtra(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutExtra);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, withoutExtra(value)] as const);
  const isObject = "type" in schema && schema.type === "object";
  return { ...Object.fromEntries(entries), ...(isObject && { additionalProperties: false }) };
}

type Mask = Uint32Array | Int32Array;

function hasToken(mask: Mask, token: number): boolean {
  return (((mask[token >> 5] ?? 0) >>> (token & 31)) & 1) === 1;
}

/**
 * Tokens of whole characters without escapes. Between the bytes of a character xgrammar is generous, it
 * takes sequences that are no UTF-8, and in escapes as well, it takes half a surrogate pair.
 */
function textTokens({ vocabSize, bytes, byteStarts }: TokenizerFacts): readonly number[] {
  return Array.from({ length: vocabSize }, (_, id) => id).filter((id) =>
    isPlain(bytes.subarray(byteStarts[id], byteStarts[id + 1])),
  );
}

function numTokens(mask: Uint32Array): number {
  return mask.reduce((sum, word) => sum + (word.toString(2).match(/1/g)?.length ?? 0), 0);
}

function isPlain(bytes: Uint8Array): boolean {
  return (
    !bytes.includes(0x5c) &&
    Buffer.from(bytes).equals(Buffer.from(Buffer.from(bytes).toString("utf8")))
  );
}

async function compare(tokenizer: NativeTokenizer, oracle: Oracle, index: number): Promise<void> {
  const [name, spec, theirs] = grammars[index] as (typeof grammars)[number];
  const grammar = tokenizer.compileGrammar(JSON.stringify(spec));
  const { vocabSize } = tokenizer.facts;
  const tokens = textTokens(tokenizer.facts);
  const allowed = (mask: Mask) => tokens.filter((token) => hasToken(mask, token));
  for (let walk = 0; walk < WALKS; walk++) {
    const random = seededRandom(100 * index + walk);
    const matcher = grammar.matcher();
    const judge = await oracle.matcher(theirs);
    for (let step = 0; step < STEPS; step++) {
      const mask = matcher.mask();
      const theirMask = await judge.getNextTokenBitmask();
      expect(matcher.isComplete(), name).toBe(hasToken(theirMask, vocabSize));
      // Where the text is forced one of its spellings is allowed, the tokenizer's own.
      const forced = matcher.forcedToken();
      const ours = forced === undefined ? allowed(mask) : [forced];
      if (forced === undefined) expect(ours, `${name}, step ${step}`).toEqual(allowed(theirMask));
      else expect([numTokens(mask), hasToken(theirMask, forced)], name).toEqual([1, true]);
      const token = ours[Math.floor(random() * ours.length)];
      if (token === undefined) break;
      expect(matcher.accept(token)).toBe(true);
      expect(judge.acceptToken(token)).toBe(true);
    }
    judge.dispose();
  }
}

const names = grammars.map(([name], index) => [name, index] as const);

describe.each(["llama3-rope", "qwen2"])("the vocabulary of %s", (folder) => {
  const tokenizer = loadAddon().openTokenizer(path.join(GOLDEN, folder));
  let oracle: Oracle;
  beforeAll(async () => {
    oracle = await Oracle.open(tokenizer.facts);
  });
  test.each(names)("%s", async (_, index) => {
    await compare(tokenizer, oracle, index);
  });
});

const model = cachedModel("smollm2-135m-instruct");
describe.skipIf(model === undefined)(
  "the vocabulary of smollm2-135m-instruct (skipped: not in the model cache)",
  () => {
    test.each(names)("%s", async (_, index) => {
      const tokenizer = loadAddon().openTokenizer(model ?? "");
      await compare(tokenizer, await Oracle.open(tokenizer.facts), index);
    });
  },
);
