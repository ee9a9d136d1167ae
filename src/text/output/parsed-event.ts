/** What a parser of output says: events that know where their text stood. */

import type { OutputEvent } from "../text-types.ts";

/** A delta with an `end` stood right in front of it, counted in all text that the parser was given. */
export type ParsedEvent =
  | Exclude<OutputEvent, { readonly type: "text" | "reasoning" }>
  | { readonly type: "text"; readonly delta: string; readonly end: number }
  | { readonly type: "reasoning"; readonly delta: string; readonly end: number };
