/** A call in the literals of a programming language: `name(key="value")` or `call:name{key:1}`. */

import { CallReader } from "./call-reader.ts";
import type { LiteralForm } from "./call-syntax.ts";
import { LiteralScanner } from "./literal-scanner.ts";

export class LiteralCall extends CallReader {
  readonly #form: LiteralForm;
  readonly #allowedNames: ReadonlySet<string>;
  readonly #scanner: LiteralScanner;
  #header = "";
  #isInArguments = false;

  constructor(form: LiteralForm, allowedNames: ReadonlySet<string>) {
    super();
    this.#form = form;
    this.#allowedNames = allowedNames;
    this.#scanner = new LiteralScanner(form.literals, (json) => this.addArguments(json));
  }

  push(character: string): void {
    if (!this.#isInArguments) {
      this.#pushHeader(character);
      return;
    }
    this.#scanner.push(character);
    if (this.#scanner.isInvalid) this.fail();
    if (!this.#scanner.isEnd) return;
    this.endArguments();
    this.complete();
  }

  #pushHeader(character: string): void {
    this.#header += character;
    const { prefix, open } = this.#form;
    if (!this.#header.endsWith(open)) {
      if (!this.#couldBeHeader()) this.fail();
      return;
    }
    const name = this.#header.slice(prefix.length, -open.length);
    if (!this.#allowedNames.has(name)) {
      this.fail();
      return;
    }
    this.#isInArguments = true;
    this.announce(name);
  }

  #couldBeHeader(): boolean {
    const { prefix, open } = this.#form;
    if (this.#header.length <= prefix.length) return prefix.startsWith(this.#header);
    const start = this.#header.slice(prefix.length);
    return [...this.#allowedNames].some((name) => `${name}${open}`.startsWith(start));
  }
}
