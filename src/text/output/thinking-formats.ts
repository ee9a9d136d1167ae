/** The markers between which model families think. */

import type { ThinkingFormat, ThinkingStart } from "./output-format.ts";

export interface ThinkingMarkers {
  readonly open: string;
  readonly close: string;
  /** Stand around the answer, once the model has thought; no text. */
  readonly answer?: readonly string[];
  /** The control tokens among them; without it each marker may be one. */
  readonly controls?: readonly string[];
}

const THINKING_MARKERS: Readonly<Record<Exclude<ThinkingFormat, "harmony">, ThinkingMarkers>> = {
  think: { open: "<think>", close: "</think>" },
  granite: { open: "<think>", close: "</think>", answer: ["<response>", "</response>"] },
  mistral: { open: "[THINK]", close: "[/THINK]" },
  seed: { open: "<seed:think>", close: "</seed:think>" },
  "command-r7b": { open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  apertus: { open: "<|inner_prefix|>", close: "<|inner_suffix|>" },
  gemma: {
    open: "<|channel>thought",
    close: "<channel|>",
    controls: ["<|channel>", "<channel|>"],
  },
};

/** undefined: harmony thinks in a channel (`harmony-parser.ts`). */
export function thinkingMarkers(format: ThinkingFormat): ThinkingMarkers | undefined {
  return format === "harmony" ? undefined : THINKING_MARKERS[format];
}

/** Whether a prompt leaves a thinking block open for the model to go on in. */
export function startOfThinking(format: ThinkingFormat, prompt: string): ThinkingStart {
  const open = thinkingMarkers(format)?.open;
  return open !== undefined && prompt.trimEnd().endsWith(open) ? "open" : "closed";
}
