/**
 * Turns the body of an object in a programming language's literals into JSON, character by character:
 * `city='Oslo', days=[1, True]` or `city:<|"|>Oslo<|"|>,on:true` becomes
 * `{"city": "Oslo", "days": [1, true]}`. Strings stand between `"`, `'` or a marker that escapes
 * nothing; keys stand bare or between quotes.
 */

import { jsonText } from "./json-text.ts";
import { scalarAsJson } from "./literal-scalar.ts";

export interface LiteralSyntax {
  /** Between key and value of the outermost object; `:` in objects within it. */
  readonly assign: "=" | ":";
  /** Ends the outermost object. */
  readonly close: ")" | "}";
  /** Quotes a string without escapes in it. */
  readonly rawQuote?: string;
  /** `**{...}` in place of the keys: the object itself. */
  readonly hasSpread: boolean;
}

interface Frame {
  readonly close: string;
  readonly assign: string | undefined;
  /** Its brackets are not written: those of the object within stand for them. */
  isSpread: boolean;
  numElements: number;
}

type State =
  | "key"
  | "bare-key"
  | "assign"
  | "value"
  | "string"
  | "scalar"
  | "after"
  | "end"
  | "invalid";

const SPACE = /\s/;
const BARE_KEY = /[^\s"':=,(){}[\]]/;
const SAME_ESCAPES = '"\\/bfnrtu';

export class LiteralScanner {
  readonly #syntax: LiteralSyntax;
  readonly #frames: Frame[];
  readonly #write: (json: string) => void;
  #state: State = "key";
  /** The bare key, scalar, quote or escape that is being read. */
  #read = "";
  #quote = "";
  #isKeyString = false;

  constructor(syntax: LiteralSyntax, write: (json: string) => void) {
    this.#syntax = syntax;
    this.#write = write;
    this.#frames = [
      { close: syntax.close, assign: syntax.assign, isSpread: false, numElements: 0 },
    ];
  }

  get isEnd(): boolean {
    return this.#state === "end";
  }

  get isInvalid(): boolean {
    return this.#state === "invalid";
  }

  push(character: string): void {
    switch (this.#state) {
      case "string":
        this.#inString(character);
        break;
      case "bare-key":
        this.#inBareKey(character);
        break;
      case "scalar":
        this.#inScalar(character);
        break;
      case "end":
      case "invalid":
        this.#state = "invalid";
        break;
      default:
        if (this.#read !== "" || !SPACE.test(character)) this.#atToken(character);
    }
  }

  #atToken(character: string): void {
    if (this.#readsRawQuote(character)) return;
    switch (this.#state) {
      case "key":
        this.#startKey(character);
        break;
      case "assign":
        this.#state = character === this.#frame.assign ? "value" : "invalid";
        break;
      case "value":
        this.#startValue(character);
        break;
      default:
        this.#afterValue(character);
    }
  }

  get #frame(): Frame {
    return this.#frames.at(-1) as Frame;
  }

  // --- strings -------------------------------------------------------------------------------

  /** Takes the characters of an opening raw quote. */
  #readsRawQuote(character: string): boolean {
    const { rawQuote } = this.#syntax;
    if (rawQuote === undefined || (this.#state !== "key" && this.#state !== "value")) return false;
    const quote = this.#read + character;
    if (!rawQuote.startsWith(quote)) {
      if (this.#read === "") return false;
      this.#state = "invalid";
      return true;
    }
    this.#read = quote;
    if (quote === rawQuote) this.#startString(quote);
    return true;
  }

  #startString(quote: string): void {
    this.#isKeyString = this.#state === "key";
    if (this.#state === "key") this.#separate();
    else this.#countValue();
    this.#quote = quote;
    this.#read = "";
    this.#state = "string";
    this.#write('"');
  }

  #inString(character: string): void {
    this.#read += character;
    if (this.#quote.length > 1) this.#inRawString();
    else if (this.#read.startsWith("\\")) this.#inEscape();
    else if (character === this.#quote) this.#endString();
    else this.#writeRead();
  }

  #inRawString(): void {
    if (this.#read === this.#quote) {
      this.#endString();
      return;
    }
    while (this.#read !== "" && !this.#quote.startsWith(this.#read)) {
      this.#write(jsonText(this.#read.charAt(0)));
      this.#read = this.#read.slice(1);
    }
  }

  /** Python's escapes; those that JSON has as well stay as they are. */
  #inEscape(): void {
    const [, kind = ""] = this.#read;
    if (kind === "") return;
    if (kind === "x" && this.#read.length < 4) return;
    if (kind === "u" && this.#read.length < 6) return;
    const digits = this.#read.slice(2);
    if (digits !== "" && !/^[0-9A-Fa-f]+$/.test(digits)) this.#state = "invalid";
    else if (kind === "x") this.#write(`\\u00${digits}`);
    else if (kind === "'") this.#write("'");
    else if (SAME_ESCAPES.includes(kind)) this.#write(this.#read);
    else this.#write(jsonText(this.#read)); // no escape: Python keeps the backslash
    this.#read = "";
  }

  #writeRead(): void {
    this.#write(jsonText(this.#read));
    this.#read = "";
  }

  #endString(): void {
    this.#read = "";
    this.#write(this.#isKeyString ? '": ' : '"');
    this.#state = this.#isKeyString ? "assign" : "after";
  }

  // --- keys and values -----------------------------------------------------------------------

  #startKey(character: string): void {
    if (character === this.#frame.close) this.#closeFrame();
    else if (character === '"' || character === "'") this.#startString(character);
    else if (this.#spreads(character)) return;
    else if (BARE_KEY.test(character)) {
      this.#read = character;
      this.#state = "bare-key";
    } else this.#state = "invalid";
  }

  /** `**` in front of the only element. */
  #spreads(character: string): boolean {
    const canSpread =
      this.#syntax.hasSpread && this.#frames.length === 1 && this.#frame.numElements === 0;
    if (!canSpread || character !== "*") return false;
    this.#read += character;
    if (this.#read !== "**") return true;
    this.#read = "";
    this.#frame.isSpread = true;
    this.#state = "value";
    return true;
  }

  #inBareKey(character: string): void {
    if (BARE_KEY.test(character)) {
      this.#read += character;
      return;
    }
    this.#separate();
    this.#write(`${JSON.stringify(this.#read)}: `);
    this.#read = "";
    this.#state = "assign";
    this.push(character);
  }

  #startValue(character: string): void {
    if (character === this.#frame.close && this.#frame.assign === undefined) {
      this.#closeFrame();
      return;
    }
    if (this.#frame.isSpread && character !== "{") {
      this.#state = "invalid";
      return;
    }
    if (character === '"' || character === "'") {
      this.#startString(character);
      return;
    }
    this.#countValue();
    if (character === "{" || character === "[") {
      const isObject = character === "{";
      const close = isObject ? "}" : "]";
      const assign = isObject ? ":" : undefined;
      this.#frames.push({ close, assign, isSpread: false, numElements: 0 });
      this.#state = isObject ? "key" : "value";
      if (!isObject) this.#write("[");
      return;
    }
    this.#read = character;
    this.#state = "scalar";
  }

  #inScalar(character: string): void {
    if (!SPACE.test(character) && !",)]}".includes(character)) {
      this.#read += character;
      return;
    }
    const json = scalarAsJson(this.#read);
    this.#read = "";
    this.#state = json === undefined ? "invalid" : "after";
    if (json === undefined) return;
    this.#write(json);
    this.push(character);
  }

  #afterValue(character: string): void {
    const { close, assign, isSpread } = this.#frame;
    if (character === close) this.#closeFrame();
    else if (character === "," && !isSpread) this.#state = assign === undefined ? "value" : "key";
    else this.#state = "invalid";
  }

  /** In front of a key: the brace that opens its object, or a comma. */
  #separate(): void {
    this.#write(this.#frame.numElements++ === 0 ? "{" : ", ");
  }

  /** In front of an element of a list: a comma; values behind keys need none. */
  #countValue(): void {
    if (this.#frame.assign === undefined && this.#frame.numElements++ > 0) this.#write(", ");
  }

  #closeFrame(): void {
    const { assign, isSpread, numElements } = this.#frame;
    if (assign === undefined) this.#write("]");
    else if (!isSpread) this.#write(numElements === 0 ? "{}" : "}");
    this.#frames.pop();
    this.#state = this.#frames.length === 0 ? "end" : "after";
  }
}
