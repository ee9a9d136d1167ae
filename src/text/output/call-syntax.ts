/** What the call formats of model families are made of, as data; `call-formats.ts` has the formats. */

import type { LiteralSyntax } from "./literal-scanner.ts";

/** `{"name": ..., "arguments": {...}}`; read with the other families' keys as well. */
export interface JsonForm {
  readonly kind: "json";
  readonly nameKey: "name" | "tool_name";
  readonly argumentsKey: "arguments" | "parameters";
}

/** `name[ARGS]{...}`: a header with the name in it, then the arguments. */
export interface NamedForm {
  readonly kind: "named";
  /** The header starts with it. */
  readonly prefix: string;
  /** The header behind the prefix, up to the arguments' brace; group `name`. */
  readonly header: RegExp;
  /** The header, prefix included, as models write it. */
  readonly write: (name: string) => string;
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
  /** Between name and first tag, as models write it. */
  readonly nameClose: string;
  readonly parameterOpen: string;
  readonly valueOpen: string;
  /** What stands between `parameterOpen` and `valueOpen`; groups `key` and, where it says, `isText`. */
  readonly key: RegExp;
  /** The same as models write it. */
  readonly writeKey: (key: string, isText: boolean) => string;
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
  /** Models write its calls between `[` and `]`; such a list is read in every block. */
  readonly isList: boolean;
  /** Another call follows behind one of these; in a list, behind a comma. */
  readonly separators: readonly string[];
  /** Behind a call these mean nothing. */
  readonly ignored: readonly string[];
  /** Ends the block; undefined: whatever is no call does. */
  readonly close: string | undefined;
  readonly form: NamedForm | TaggedForm | LiteralForm | JsonForm;
  /** Of a JSON form: what a call that does not start with a brace is read as. */
  readonly alternative: LiteralForm | undefined;
  /** Models write several calls into one block, else a block for each. */
  readonly holdsSeveral: boolean;
  /** White space as models write it, behind the opening and in front of the closing. */
  readonly pad: string;
  /** What models write between two calls, or two blocks of one. */
  readonly between: string;
}

export interface CallFormat {
  /** The first is what models write as a rule. */
  readonly blocks: readonly BlockSyntax[];
  /** Texts of control tokens that the parser must see. */
  readonly markers: readonly string[];
}

/** What a call starts with where that is a marker of its own: it then needs no separator. */
export function callStart(form: BlockSyntax["form"]): string | undefined {
  if (form.kind === "tagged" && form.open !== "") return form.open;
  return form.kind === "named" && form.prefix.startsWith("<") ? form.prefix : undefined;
}
