/**
 * The pre-tokenizer that a GGUF file names in `tokenizer.ggml.pre`: the patterns that cut text into
 * the pieces inside which byte-level BPE merges. A wrong pattern gives silently worse output, so a
 * name that is not in the table is refused.
 */

import { TextModelError } from "./text-errors.ts";

export interface PreTokenizerRules {
  /** Applied one after the other, each to the pieces of the previous one; gaps are pieces too. */
  readonly patterns: readonly string[];
  /** A whole piece that is a vocabulary entry is taken without looking at merges. */
  readonly ignoreMerges: boolean;
  /** `add_bos_token` of files that lack the key. */
  readonly addBosDefault: boolean;
  /** GGUF has no key for the normalizer; the tokenizers of this group were made with NFC. */
  readonly nfc: boolean;
}

const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const TAIL = "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

const wordPattern = (digits: string): string =>
  `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${TAIL}`;

/** Tells upper from lower case: the first branch is a word that ends in lower case, the second any other. */
const casePattern = (suffix: string, digits: string): string => {
  const lead = "[^\\r\\n\\p{L}\\p{N}]?";
  const upper = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
  const lower = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
  return (
    `${lead}${upper}*${lower}+${suffix}|${lead}${upper}+${lower}*${suffix}|${digits}` +
    `| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${TAIL}`
  );
};

const plain = (...patterns: string[]): PreTokenizerRules => ({
  patterns,
  ignoreMerges: false,
  addBosDefault: false,
  nfc: false,
});

const LLAMA3_SPLIT = plain(wordPattern("\\p{N}{1,3}"));
const LLAMA3 = { ...LLAMA3_SPLIT, ignoreMerges: true, addBosDefault: true };
const QWEN2 = plain(wordPattern("\\p{N}"));
const DIGITS_ALONE = plain("\\p{N}", GPT2);
const GPT_4O = plain(casePattern(`${CONTRACTIONS}?`, "\\p{N}{1,3}"));

/** Source: the GGUF specification's key `tokenizer.ggml.pre` and the tokenizers those names stand for. */
const RULES: ReadonlyMap<string, PreTokenizerRules> = new Map([
  ...named(["llama3", "llama-v3", "llama-bpe", "falcon3", "pixtral", "lfm2"], LLAMA3),
  ...named(["dbrx", "smaug-bpe", "glm4", "chatglm-bpe"], LLAMA3_SPLIT),
  ...named(["qwen2"], { ...QWEN2, nfc: true }),
  ...named(["deepseek-r1-qwen", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"], QWEN2),
  ...named(["gpt-2", "phi-2", "mpt", "olmo", "jais", "modern-bert", "roberta-bpe"], plain(GPT2)),
  ...named(["exaone4", "trillion"], plain(GPT2)),
  ...named(["starcoder", "refact", "command-r", "smollm", "codeshell", "exaone"], DIGITS_ALONE),
  ...named(["minerva-7b", "mellum2"], DIGITS_ALONE),
  ...named(["tekken"], { ...LLAMA3, patterns: [casePattern("", "\\p{N}")] }),
  ...named(["gpt-4o", "llama4", "kanana2", "minimax-m2"], GPT_4O),
]);

const DEFAULT_RULES = plain("[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]");

function named(
  names: readonly string[],
  rules: PreTokenizerRules,
): readonly (readonly [string, PreTokenizerRules])[] {
  return names.map((name) => [name, rules] as const);
}

/**
 * Rules for a name of `tokenizer.ggml.pre`; a file without one gets the default and a process warning.
 * @throws {TextModelError} ERR_TOKENIZER_TYPE
 */
export function preTokenizerRules(name: string | undefined): PreTokenizerRules {
  if (name === undefined || name === "default") {
    process.emitWarning("the model file names no pre-tokenizer: quality may be degraded", {
      code: "WARMLOOP_PRE_TOKENIZER",
    });
    return DEFAULT_RULES;
  }
  const rules = RULES.get(name);
  if (!rules) {
    throw new TextModelError("ERR_TOKENIZER_TYPE", `pre-tokenizer "${name}" is not supported`);
  }
  return rules;
}
