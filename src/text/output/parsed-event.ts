/** What a parser of output says: events that know where their text stood. */

import type { OutputEvent } from "../text-types.ts";

/** A text stood right in front of `end`, counted in all text that the parser was given. */
export type ParsedEvent =
  | Exclude<OutputEvent, { readonly type: "text" }>
  | { readonly type: "text"; readonly delta: string; readonly end: number };
