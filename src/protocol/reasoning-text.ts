import type { OutputReasoning } from "./responses-types.ts";

/** What the model thought, in whichever form the server shows it. */
export function reasoningText({ content, summary }: OutputReasoning): string {
  return (content ?? summary).map((part) => part.text).join("");
}
