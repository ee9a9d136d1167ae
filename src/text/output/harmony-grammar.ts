/**
 * Grammars of harmony output, which goes on behind `<|start|>assistant`. The token that ends the turn
 * is no part of it.
 */

import { choice, type GrammarSpec, literal, marker, sequence } from "./grammar-spec.ts";

export interface HarmonyCall {
  readonly name: string;
  readonly args: GrammarSpec;
}

const FINAL = "<|channel|>final<|message|>";
const NEXT = "<|start|>assistant";

/** Thinking, as often as the model likes. */
const ANALYSIS = message("<|channel|>analysis<|message|>");
/** What a model says before it calls. */
const PREAMBLE = message("<|channel|>commentary<|message|>");

export function harmonyAnswer(answer: GrammarSpec): GrammarSpec {
  return sequence({ repeat: ANALYSIS }, marker(FINAL), answer);
}

/** Harmony models call one function in a turn. */
export function harmonyCalls(
  calls: readonly HarmonyCall[],
  mode: "auto" | "required",
): GrammarSpec {
  const call = choice(calls.flatMap(({ name, args }) => callForms(name, args)));
  if (mode === "required") return sequence({ repeat: ANALYSIS }, call);
  const final = sequence(marker(FINAL), { text: true });
  return sequence({ repeat: choice([ANALYSIS, PREAMBLE]) }, choice([call, final]));
}

/** With the recipient behind the channel, and with it in front as templates render it. */
function callForms(name: string, args: GrammarSpec): readonly GrammarSpec[] {
  const behind = `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>`;
  return [
    sequence(marker(behind), args),
    sequence(
      literal(` to=functions.${name}`),
      marker("<|channel|>commentary json<|message|>"),
      args,
    ),
  ];
}

function message(header: string): GrammarSpec {
  return sequence(marker(header), { text_until: "<|end|>" }, marker(NEXT));
}
