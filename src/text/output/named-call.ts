/**
 * A call whose name stands in front of its arguments, a JSON object: `name[ARGS]{...}` and the like.
 * The arguments leave as raw pieces of the model's text.
 */

import { CallReader } from "./call-reader.ts";
import type { NamedForm } from "./call-syntax.ts";
import { JsonScanner } from "./json-scanner.ts";

/** Names have at most 128 characters, markers and ids stand around them. */
const MAX_HEADER_LENGTH = 512;

export class NamedCall extends CallReader {
  readonly #form: NamedForm;
  readonly #allowedNames: ReadonlySet<string>;
  readonly #scanner = new JsonScanner();
  #header = "";
  #isInArguments = false;

  constructor(form: NamedForm, allowedNames: ReadonlySet<string>) {
    super();
    this.#form = form;
    this.#allowedNames = allowedNames;
  }

  push(character: string): void {
    const { prefix } = this.#form;
    if (!this.#isInArguments && character === "{" && this.#header.length >= prefix.length) {
      this.#endHeader();
      if (this.status !== "open") return;
    }
    if (this.#isInArguments) this.#pushArguments(character);
    else this.#pushHeader(character);
  }

  #pushHeader(character: string): void {
    this.#header += character;
    const { prefix } = this.#form;
    const start = this.#header.slice(0, prefix.length);
    if (!prefix.startsWith(start) || this.#header.length > MAX_HEADER_LENGTH) this.fail();
  }

  #endHeader(): void {
    const name = this.#form.header.exec(this.#header.slice(this.#form.prefix.length))?.groups?.name;
    if (name === undefined || !this.#allowedNames.has(name)) {
      this.fail();
      return;
    }
    this.#isInArguments = true;
    this.announce(name);
  }

  #pushArguments(character: string): void {
    this.#scanner.push(character);
    if (this.#scanner.state === "invalid") {
      this.fail();
      return;
    }
    this.addArguments(character);
    if (this.#scanner.state !== "end") return;
    this.endArguments();
    this.complete();
  }
}
