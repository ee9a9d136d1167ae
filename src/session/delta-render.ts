/**
 * Which part of a newly rendered prompt is behind the tokens a lane already has. Pure text work:
 * no tokenizer, no engine.
 *
 *   promptText                     what the parent's prompt tokens stand for
 *   promptText + output + closing  `closedText`: the parent with its output, rendered again
 *   closedText + new turns         `nextText`: the new prompt
 *
 * The output is kept as generated ids, so its text here may differ in spelling (spaces of a call's
 * JSON). What must hold is that the template left everything before it alone and still starts the
 * turn in the same way; else history was rewritten. The suffix begins with the marker that closes
 * the output: the caller knows whether the model generated that token itself.
 */
import type { RenderedText } from "../text/text-types.ts";

export interface ParentText {
  readonly promptText: RenderedText;
  /** undefined: the parent generated nothing (a warmup), its text is `promptText` alone. */
  readonly closedText: RenderedText | undefined;
}

/** undefined: the new prompt does not extend the parent. */
export function continuationSuffix(
  parent: ParentText,
  nextText: RenderedText,
  endMarkers: readonly string[],
): RenderedText | undefined {
  const { promptText, closedText } = parent;
  if (closedText === undefined) {
    return nextText.startsWith(promptText) ? sliceRendered(nextText, promptText.length) : undefined;
  }
  if (!closedText.startsWith(promptText) || !nextText.startsWith(closedText)) return undefined;
  const closing = lastMarker(closedText, endMarkers);
  return closing < promptText.length ? undefined : sliceRendered(nextText, closing);
}

/** Where the last marker starts; before 0 when there is none. */
export function lastMarker(text: string, markers: readonly string[]): number {
  return Math.max(...markers.map((marker) => text.lastIndexOf(marker)), Number.NEGATIVE_INFINITY);
}

/** A suffix of rendered text is rendered text. */
export function sliceRendered(text: RenderedText, start: number): RenderedText {
  return text.slice(start) as RenderedText;
}
