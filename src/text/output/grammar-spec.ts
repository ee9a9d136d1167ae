/** Grammars as the native engine reads them; `native/grammar/grammar_spec.h` says what each means. */
export type GrammarSpec =
  | { readonly literal: string }
  | { readonly marker: string }
  | { readonly sequence: readonly GrammarSpec[] }
  | { readonly choice: readonly GrammarSpec[] }
  | { readonly repeat: GrammarSpec; readonly min?: number; readonly max?: number }
  | {
      readonly json_schema: unknown;
      readonly whitespace?: "spaced" | "any";
      readonly name?: string;
    }
  | { readonly regex: string }
  | { readonly lark: string }
  | { readonly in_json_string: GrammarSpec }
  | { readonly text_until: string; readonly excluding?: readonly string[] }
  | { readonly text: true; readonly excluding?: readonly string[] };

export const EMPTY: GrammarSpec = { literal: "" };

export function sequence(...parts: readonly GrammarSpec[]): GrammarSpec {
  const all = parts.filter((part) => part !== EMPTY);
  if (all.length === 0) return EMPTY;
  return all.length === 1 ? (all[0] as GrammarSpec) : { sequence: all };
}

export function choice(options: readonly GrammarSpec[]): GrammarSpec {
  return options.length === 1 ? (options[0] as GrammarSpec) : { choice: options };
}

export function optional(part: GrammarSpec): GrammarSpec {
  return { repeat: part, min: 0, max: 1 };
}

export function marker(text: string): GrammarSpec {
  return text === "" ? EMPTY : { marker: text };
}

export function literal(text: string): GrammarSpec {
  return text === "" ? EMPTY : { literal: text };
}
