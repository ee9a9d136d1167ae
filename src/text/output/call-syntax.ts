/** What the call formats of model families are made of, as data; `call-formats.ts` has the formats. */

import type { LiteralSyntax } from "./literal-scanner.ts";

/** `{"name": ..., "arguments": {...}}`, also with `tool_name` and `parameters`. */
export interface JsonForm {
  readonly kind: "json";
}

/** `name[ARGS]{...}`: a header with the name in it, then the arguments. */
export interface NamedForm {
  readonly kind: "named";
  /** The header starts with it. */
  readonly prefix: string;
  /** The header behind the prefix, up to the arguments' brace; group `name`. */
  readonly header: RegExp;
  /** The header as models write it. `index` counts the calls of a block. */
  readonly write: (name: string, index: number) => string;
  /** Behind the arguments. */
  readonly end: string;
}

/** `<function=name><parameter=key>value</parameter></function>`. */
export interface TaggedForm {
  readonly kind: "tagged";
  /** In front of the name; may be empty. */
  readonly open: string;
  /** The characters that may follow the name; `<` begins the next tag. */
  readonly nameEnds: string;
  /** Group `name`: the name as it stands in its tag. */
  readonly name: RegExp;
  readonly parameterOpen: string;
  readonly valueOpen: string;
  /** What stands between `parameterOpen` and `valueOpen`; groups `key` and, where it says, `isText`. */
  readonly key: RegExp;
  readonly parameterClose: string;
  /** One line break on each side of a value is not part of it. */
  readonly isPadded: boolean;
  readonly close: string;
}

/** `name(key="value")`. */
export interface LiteralForm {
  readonly kind: "literal";
  readonly prefix: string;
  /** Between name and arguments. */
  readonly open: string;
  readonly literals: LiteralSyntax;
}

/** A block of calls: opening, calls, closing. */
export interface BlockSyntax {
  /**
   * The marker that opens it; or no marker but the character with which a call starts, and that only
   * where a message starts.
   */
  readonly opening: { readonly marker: string } | { readonly leading: string };
  /** Its calls may stand between `[` and `]`. */
  readonly isList: boolean;
  /** Another call follows behind one of these. */
  readonly separators: readonly string[];
  /** Behind a call these mean nothing. */
  readonly ignored: readonly string[];
  /** Ends the block; undefined: whatever is no call does. */
  readonly close: string | undefined;
  /** What models write. */
  readonly form: NamedForm | TaggedForm | LiteralForm | JsonForm;
}

export interface CallFormat {
  readonly blocks: readonly BlockSyntax[];
  /** Texts of control tokens that the parser must see. */
  readonly markers: readonly string[];
}
