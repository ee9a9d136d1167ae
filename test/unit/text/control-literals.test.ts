import { describe, expect, test } from "vitest";
import { ControlLiterals } from "../../../src/text/control-literals.ts";
import { Guard, unguard } from "../../../src/text/guard.ts";
import { seededRandom } from "../../seeded-random.ts";

const TEXTS = ["<|a|>", "<|ab|>", "<|", "<s>", "<s>[A]", "[A]", "\u{1f600}x"];
const literals = new ControlLiterals(TEXTS.map((text, id) => ({ id, text })));
const PIECES = [...TEXTS, "<|a", "<", "|", ">", "[", "A", "s", " ", "\u{1f600}", "\ufdd0", "b|>"];

function randomText(random: () => number): string {
  const length = Math.floor(random() * 12);
  return Array.from({ length }, () => PIECES[Math.floor(random() * PIECES.length)]).join("");
}

/** Every literal tried at every place. */
function findSlowly(text: string, from: number) {
  for (let index = from; index < text.length; index++) {
    const here = TEXTS.filter((literal) => text.startsWith(literal, index));
    const [literal] = here.sort((left, right) => right.length - left.length);
    if (literal !== undefined) return { index, literal, id: TEXTS.indexOf(literal) };
  }
  return undefined;
}

describe("literals of control tokens", () => {
  test("are found leftmost first and longest first, wherever the search starts", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 2_000; round++) {
      const text = randomText(random);
      const from = Math.floor(random() * (text.length + 1));
      expect(literals.find(text, from)).toEqual(findSlowly(text, from));
    }
    expect(new ControlLiterals([]).find("<|a|>", 0)).toBeUndefined();
  });

  test("are in no guarded text, wherever it stands, and the text comes back as it was", () => {
    const guard = new Guard(literals);
    const random = seededRandom(8);
    for (let round = 0; round < 2_000; round++) {
      const [before, text] = [randomText(random), randomText(random)];
      const guarded = guard.guard(text);
      expect(findSlowly(guarded, 0)).toBeUndefined();
      expect(unguard(guarded)).toBe(text);
      const joined = guard.guard(before) + guarded;
      expect(findSlowly(joined, 0)).toBeUndefined();
    }
  });
});
