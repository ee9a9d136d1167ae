/** Thinking in front of what a grammar constrains. */

import { type GrammarSpec, marker, optional, sequence } from "./grammar-spec.ts";
import { harmonyAnswer } from "./harmony-grammar.ts";
import type { OutputFormat } from "./output-format.ts";
import { thinkingMarkers } from "./thinking-formats.ts";

/** Models leave an empty line behind their thinking, or nothing. */
const GAP: GrammarSpec = { regex: "\\n{0,2}" };

/** The output's text has to be this, behind the thinking. */
export function answerGrammar(
  thinking: OutputFormat["thinking"],
  answer: GrammarSpec,
): GrammarSpec {
  return thinking?.format === "harmony" ? harmonyAnswer(answer) : thinkingFirst(thinking, answer);
}

/** Thinking that the prompt opened has to be closed; else the model may think or not. */
export function thinkingFirst(
  thinking: OutputFormat["thinking"],
  output: GrammarSpec,
): GrammarSpec {
  const markers = thinking && thinkingMarkers(thinking.format);
  if (markers === undefined) return output;
  const rest = sequence({ text_until: markers.close }, GAP);
  const isOpen = thinking?.start === "open";
  const thought = isOpen ? rest : optional(sequence(marker(markers.open), rest));
  return sequence(thought, output);
}
