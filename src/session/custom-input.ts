/**
 * The input of a free-form tool out of the JSON arguments that the model writes: `{"input": "text"}`.
 * Its text streams while it is read. Arguments of another shape are the input as they stand.
 */
import { isJsonObject } from "../base/json-object.ts";

/** Everything in front of the text. */
const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
/** Whole characters and escapes; half an escape or half a surrogate pair has to wait. */
const WHOLE_TEXT =
  /^(?:[^"\\\ud800-\udbff]|[\ud800-\udbff][\udc00-\udfff]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\["\\/bfnrt])+/;

export class CustomInput {
  #arguments = "";
  /** Where the text goes on in the arguments; undefined while the head is not complete. */
  #textAt: number | undefined;
  #text = "";

  /** What the arguments' next piece adds to the input. */
  push(delta: string): string {
    this.#arguments += delta;
    this.#textAt ??= HEAD.exec(this.#arguments)?.[0].length;
    if (this.#textAt === undefined) return "";
    const [whole = ""] = WHOLE_TEXT.exec(this.#arguments.slice(this.#textAt)) ?? [];
    this.#textAt += whole.length;
    const text = decode(whole);
    this.#text += text;
    return text;
  }

  /** The call has ended: what the input still lacks. */
  finish(): string {
    const whole = inputOf(this.#arguments);
    // Once text has streamed it cannot be taken back: only what continues it is added.
    return whole.startsWith(this.#text) ? whole.slice(this.#text.length) : "";
  }
}

function decode(escaped: string): string {
  return escaped.includes("\\") ? String(JSON.parse(`"${escaped}"`)) : escaped;
}

function inputOf(argumentsText: string): string {
  try {
    const value: unknown = JSON.parse(argumentsText);
    if (isJsonObject(value) && typeof value.input === "string") return value.input;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return argumentsText;
}
