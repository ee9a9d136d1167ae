/** Random texts of a grammar spec: what the native engine would let a model write. */
import type { GrammarSpec } from "../../../src/text/output/grammar-spec.ts";
import { SchemaValues, spacedJson } from "../../tools/schema-values.ts";

type Random = () => number;

const WORDS = ["Let me see", " 42", "\n", "naïve 🐚", ' "quoted" {a: [1]}', " <b>", "\\"];

export class SpecTexts {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  next(spec: GrammarSpec): string {
    if ("literal" in spec) return spec.literal;
    if ("marker" in spec) return spec.marker;
    if ("sequence" in spec) return spec.sequence.map((part) => this.next(part)).join("");
    if ("choice" in spec) return this.next(this.#pick(spec.choice));
    if ("repeat" in spec) {
      const { min = 0, max = min + 2 } = spec;
      const count = min + Math.floor(this.#random() * (max - min + 1));
      return Array.from({ length: count }, () => this.next(spec.repeat)).join("");
    }
    if ("json_schema" in spec) {
      const schema = spec.json_schema as Readonly<Record<string, unknown>>;
      return spacedJson(new SchemaValues(schema, this.#random).next());
    }
    if ("in_json_string" in spec) {
      return JSON.stringify(this.next(spec.in_json_string)).slice(1, -1);
    }
    if ("text_until" in spec) return this.#words([spec.text_until]) + spec.text_until;
    if ("text" in spec) return this.#words(spec.excluding ?? []);
    if ("regex" in spec && spec.regex === "\\n{0,2}") return "\n".repeat(this.#pick([0, 1, 2]));
    throw new Error(`no texts of ${JSON.stringify(spec)}`);
  }

  /** White space at its ends is not looked at: parsers drop it beside markers. */
  #words(excluding: readonly string[]): string {
    const count = Math.floor(this.#random() * 4);
    const text = Array.from({ length: count }, () => this.#pick(WORDS)).join("");
    return excluding.some((marker) => text.includes(marker)) ? "" : text;
  }

  #pick<T>(options: readonly T[]): T {
    return options[Math.floor(this.#random() * options.length)] as T;
  }
}
