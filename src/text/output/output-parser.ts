/** Text of a model in, text, thinking and calls out; by the format that the model's family writes. */

import { CALL_FORMATS } from "./call-formats.ts";
import { HARMONY_MARKERS, HarmonyParser } from "./harmony-parser.ts";
import { MarkedParser } from "./marked-parser.ts";
import type { OutputFormat } from "./output-format.ts";
import type { ParsedEvent } from "./parsed-event.ts";
import { thinkingMarkers } from "./thinking-formats.ts";

/** Its events, joined, do not depend on how the text was cut into pieces. */
export interface OutputParser {
  push(text: string): void;
  /** The text so far ends inside thinking. */
  readonly isThinking: boolean;
  /** The output has ended, or the token cap cut it: what was held back comes out. */
  finish(wasCut?: boolean): void;
}

/** undefined: all output is text. */
export function createOutputParser(
  format: OutputFormat,
  emit: (event: ParsedEvent) => void,
): OutputParser | undefined {
  if (isHarmony(format)) {
    return new HarmonyParser(format.calls?.tools ?? [], emit);
  }
  return format.calls || format.thinking ? new MarkedParser(format, emit) : undefined;
}

/** Texts of the control tokens that this format's parser must see; others are never shown. */
export function controlMarkers(format: OutputFormat): ReadonlySet<string> {
  if (isHarmony(format)) return new Set(HARMONY_MARKERS);
  const { calls, thinking } = format;
  const markers = new Set<string>();
  if (calls && calls.format !== "harmony") {
    for (const marker of CALL_FORMATS[calls.format].markers) markers.add(marker);
  }
  const thoughts = thinking && thinkingMarkers(thinking.format);
  if (thoughts) {
    const { open, close, answer = [], controls } = thoughts;
    for (const marker of controls ?? [open, close, ...answer]) markers.add(marker);
  }
  return markers;
}

function isHarmony({ calls, thinking }: OutputFormat): boolean {
  return calls?.format === "harmony" || thinking?.format === "harmony";
}
