// Writes unicode_table.cpp: the general category of every code point, from the Unicode data of the
// Node that runs this. Run it again to follow a newer Unicode version.
import { writeFileSync } from "node:fs";
import path from "node:path";

// The names and their order are those of `CharCategory` in unicode.h.
const CATEGORIES = [
  ["other", undefined],
  ["uppercase", /\p{Lu}/u],
  ["lowercase", /\p{Ll}/u],
  ["titlecase", /\p{Lt}/u],
  ["modifier letter", /\p{Lm}/u],
  ["other letter", /\p{Lo}/u],
  ["mark", /\p{M}/u],
  ["number", /\p{N}/u],
  ["punctuation", /\p{P}/u],
  ["symbol", /\p{S}/u],
  // The White_Space property, not JavaScript's \s: with U+0085, without U+FEFF.
  ["space", /\p{White_Space}/u],
];
const PER_LINE = 9;

function categoryOf(codePoint) {
  if (codePoint >= 0xd800 && codePoint < 0xe000) return 0;
  const character = String.fromCodePoint(codePoint);
  const found = CATEGORIES.findLastIndex(([, pattern]) => pattern?.test(character));
  return Math.max(found, 0);
}

const runs = [];
let last;
for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
  const category = categoryOf(codePoint);
  if (category !== last) runs.push(codePoint * 16 + category);
  last = category;
}
const lines = [];
for (let i = 0; i < runs.length; i += PER_LINE) {
  const numbers = runs
    .slice(i, i + PER_LINE)
    .map((run) => `0x${run.toString(16).padStart(6, "0")}`);
  lines.push(`    ${numbers.join(", ")},`);
}
const source = `// Made by make-unicode-table.mjs from Unicode ${process.versions.unicode}: do not edit.
#include "tokenizer/unicode.h"

namespace wl::tokenizer {

// clang-format off
static constexpr uint32_t kRuns[] = {
${lines.join("\n")}
};
// clang-format on

std::span<const uint32_t> category_runs() { return kRuns; }

}  // namespace wl::tokenizer
`;
writeFileSync(path.join(import.meta.dirname, "unicode_table.cpp"), source);
