/**
 * A call whose arguments stand between tags, each as the text it is:
 * `<function=name><parameter=key>value</parameter></function>` and its relatives. The values become
 * JSON: text where the tool's schema says so, else the JSON that the value is, else text.
 */

import { CallReader } from "./call-reader.ts";
import type { TaggedForm } from "./call-syntax.ts";
import { isJson, jsonText, wholeCharacters } from "./json-text.ts";
import { wordAsJson } from "./literal-scalar.ts";
import type { OfferedTool } from "./output-format.ts";

type State = "open" | "name" | "body" | "key" | "value";

const SPACE = /\s/;
/** Of a tag with a name or key in it. */
const MAX_TAG_LENGTH = 512;

export class TaggedCall extends CallReader {
  readonly #form: TaggedForm;
  readonly #tools: ReadonlyMap<string, OfferedTool>;
  #state: State = "open";
  /** The tag, name, key or value that is being read. */
  #read = "";
  #tool: OfferedTool | undefined;
  #numParameters = 0;
  #isText = false;
  /** A line break here is not part of the value. */
  #isAtPad = false;

  constructor(form: TaggedForm, tools: ReadonlyMap<string, OfferedTool>) {
    super();
    this.#form = form;
    this.#tools = tools;
    if (form.open === "") this.#state = "name";
  }

  push(character: string): void {
    switch (this.#state) {
      case "open":
        this.#pushTag(character, [this.#form.open]);
        break;
      case "name":
        this.#pushName(character);
        break;
      case "body":
        this.#pushTag(character, [this.#form.parameterOpen, this.#form.close]);
        break;
      case "key":
        this.#pushKey(character);
        break;
      case "value":
        this.#pushValue(character);
        break;
    }
  }

  /** White space, then one of the tags. */
  #pushTag(character: string, tags: readonly string[]): void {
    if (this.#read === "" && SPACE.test(character)) return;
    this.#read += character;
    const tag = this.#read;
    if (!tags.some((candidate) => candidate.startsWith(tag))) {
      this.fail();
    } else if (tags.includes(tag)) {
      this.#read = "";
      if (tag === this.#form.close) this.#endCall();
      else this.#state = tag === this.#form.open ? "name" : "key";
    }
  }

  #pushName(character: string): void {
    if (!this.#form.nameEnds.includes(character)) {
      this.#read += character;
      if (this.#read.length > MAX_TAG_LENGTH) this.fail();
      return;
    }
    const name = this.#form.name.exec(this.#read)?.groups?.name ?? "";
    this.#tool = this.#tools.get(name);
    this.#read = "";
    if (this.#tool === undefined) {
      this.fail();
      return;
    }
    this.#state = "body";
    this.announce(name);
    this.addArguments("{");
    if (character === "<") this.push(character); // the next tag has begun
  }

  #pushKey(character: string): void {
    this.#read += character;
    const { valueOpen, key } = this.#form;
    if (!this.#read.endsWith(valueOpen)) {
      if (this.#read.length > MAX_TAG_LENGTH) this.fail();
      return;
    }
    const groups = key.exec(this.#read.slice(0, -valueOpen.length))?.groups;
    if (groups?.key === undefined) {
      this.fail();
      return;
    }
    const isDeclaredText = this.#tool?.textParameters?.includes(groups.key) ?? false;
    this.#isText = groups.isText === undefined ? isDeclaredText : groups.isText === "true";
    this.#read = "";
    this.#isAtPad = this.#form.isPadded;
    this.#state = "value";
    const separator = this.#numParameters++ === 0 ? "" : ", ";
    this.addArguments(`${separator}${JSON.stringify(groups.key)}: ${this.#isText ? '"' : ""}`);
  }

  #pushValue(character: string): void {
    if (this.#isText) {
      this.#pushText(character);
      return;
    }
    this.#read += character;
    const value = this.#untilClose(character);
    if (value !== undefined) this.#endValue(asJson(value));
  }

  /** Text leaves at once, but for what could belong to the closing tag. */
  #pushText(character: string): void {
    this.#read += character;
    const rest = this.#untilClose(character);
    if (rest !== undefined) {
      this.#endValue(`${jsonText(rest)}"`);
      return;
    }
    const { parameterClose, isPadded } = this.#form;
    const numHeld = parameterClose.length - 1 + (isPadded ? 1 : 0);
    const sent = wholeCharacters(this.#read.slice(0, Math.max(0, this.#read.length - numHeld)));
    if (sent === "") return;
    this.addArguments(jsonText(this.#withoutPad(sent)));
    this.#read = this.#read.slice(sent.length);
    this.#isAtPad = false;
  }

  /** The value, or the rest of it, when its closing tag is complete. */
  #untilClose(character: string): string | undefined {
    const { parameterClose, isPadded } = this.#form;
    if (character !== parameterClose.at(-1) || !this.#read.endsWith(parameterClose))
      return undefined;
    const value = this.#withoutPad(this.#read.slice(0, -parameterClose.length));
    return isPadded ? value.replace(/\n$/, "") : value;
  }

  #withoutPad(text: string): string {
    return this.#isAtPad && text.startsWith("\n") ? text.slice(1) : text;
  }

  #endValue(json: string): void {
    this.addArguments(json);
    this.#read = "";
    this.#state = "body";
  }

  #endCall(): void {
    this.addArguments("}");
    this.endArguments();
    this.complete();
  }
}

/** What is neither JSON nor a word of Python is text. */
function asJson(value: string): string {
  const trimmed = value.trim();
  if (isJson(trimmed)) return trimmed;
  return wordAsJson(trimmed) ?? JSON.stringify(value);
}
