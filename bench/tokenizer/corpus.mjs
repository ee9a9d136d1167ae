/**
 * Ten megabytes of mixed text in documents, the same on every machine with the same node_modules:
 * code, JSON, prose in several scripts, emoji, white space, numbers, random Unicode.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../..");
const MIB = 1024 * 1024;
const DOCUMENT_CHARS = 8 * 1024;

/** Packages with plain sources, versions fixed by package-lock.json. */
const CODE_FOLDERS = ["node_modules/openai", "node_modules/zod", "node_modules/fastify"];

/** First and last letter of alphabets, and how words are parted. */
const SCRIPTS = [
  ["a", "z", " "],
  ["à", "ÿ", " "],
  ["α", "ω", " "],
  ["а", "я", " "],
  ["א", "ת", " "],
  ["ا", "ي", " "],
  ["अ", "ह", " "],
  ["ก", "ฮ", ""],
  ["一", "龥", ""],
  ["ぁ", "ん", ""],
  ["가", "힣", " "],
];
const EMOJI = ["😀", "🎉", "👍🏽", "👩‍💻", "🇫🇷", "❤️", "🏳️‍🌈", "1️⃣", "🫠"];
const BLANKS = [" ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\t\t", " \n ", "\u00a0", "\u3000"];
const MARKS = ["'s", "'LL", "don't", "--", "...", "===", "<|im_end|>", "</s>", "{}", "\\n", "#!/"];

/** mulberry32: small, seeded, good enough to mix text. */
export function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function createCorpus() {
  const random = createRandom(1);
  const below = (n) => Math.floor(random() * n);
  const pick = (list) => list[below(list.length)];
  const repeat = (n, make) => Array.from({ length: n }, make).join("");
  const prose = () => {
    const [first, last, gap] = pick(SCRIPTS);
    const [low, high] = [first.codePointAt(0), last.codePointAt(0)];
    const letter = () => String.fromCodePoint(low + below(high - low + 1));
    const word = () => repeat(1 + below(9), letter);
    return repeat(60, () => word() + (below(8) === 0 ? pick([",", ".", "。", "!"]) : "") + gap);
  };
  const number = () =>
    pick([
      () => below(1e9).toString(),
      () => random().toFixed(6),
      () => below(2 ** 32).toString(16),
    ])();
  const unicode = () => {
    const c = below(0x110000);
    return c >= 0xd800 && c < 0xe000 ? "" : String.fromCodePoint(c);
  };
  const kinds = [
    [2, () => repeat(20, prose)],
    [0.5, () => repeat(100, () => pick(EMOJI) + pick(BLANKS))],
    [0.5, () => repeat(100, () => repeat(1 + below(4), () => pick(BLANKS)) + pick(MARKS))],
    [1, () => repeat(200, () => number() + pick([" ", ",", "-", "\n"]))],
    [1, () => repeat(500, unicode)],
    [0.25, () => repeat(50, () => repeat(1 + below(400), () => pick(["=", " ", "a", "\n"])[0]))],
  ];
  return [
    ...documents(4.25 * MIB, codeTexts()),
    ...documents(0.5 * MIB, [readFileSync(path.join(ROOT, "package-lock.json"), "utf8")]),
    ...kinds.flatMap(([mib, make]) => documents(mib * MIB, generate(make))),
  ];
}

function* generate(make) {
  while (true) yield make();
}

function* codeTexts() {
  for (const folder of CODE_FOLDERS) {
    const names = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" });
    for (const name of names.filter((file) => /\.(js|ts|md)$/.test(file)).sort()) {
      yield readFileSync(path.join(ROOT, folder, name), "utf8");
    }
  }
}

/** Cuts texts into documents until `numBytes` of UTF-8 are there. */
function documents(numBytes, texts) {
  const cut = [];
  let left = numBytes;
  for (const text of texts) {
    for (let at = 0; at < text.length && left > 0; at += DOCUMENT_CHARS) {
      const document = text.slice(at, at + DOCUMENT_CHARS).toWellFormed();
      cut.push(document);
      left -= Buffer.byteLength(document);
    }
    if (left <= 0) break;
  }
  return cut;
}
