/** Calls as the text that a model of a family writes, for histories. */

import { CALL_FORMATS } from "./call-formats.ts";
import type { BlockSyntax } from "./call-syntax.ts";

/** Formats that templates teach without being able to show a call in them. */
export type TaughtFormat = "granite" | "kimi";

export interface WrittenCall {
  readonly name: string;
  /** JSON text. */
  readonly args: string;
}

export function writeCalls(format: TaughtFormat, calls: readonly WrittenCall[]): string {
  const [block] = CALL_FORMATS[format].blocks;
  if (block === undefined) return "";
  const { opening, isList, between, close = "" } = block;
  const marker = "marker" in opening ? opening.marker : "";
  const texts = calls.map((call) => writeCall(block, call)).join(between);
  return `${marker}${isList ? `[${texts}]` : texts}${close}`;
}

function writeCall({ form }: BlockSyntax, { name, args }: WrittenCall): string {
  if (form.kind === "named") return `${form.write(name)}${args}${form.end}`;
  return `{"name": "${name}", "arguments": ${args}}`;
}
