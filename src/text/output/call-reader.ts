/**
 * Reads one call character by character. What it has in common with every form of calls: a call is
 * announced by its name once it is certain to be one of an allowed function, then its arguments stream
 * as the text of a JSON object.
 */

export type CallStatus =
  /** More text is needed. */
  | "open"
  /** The whole call was read. */
  | "complete"
  /** This is no call (and nothing of it was announced). */
  | "rejected"
  /** Broken after it was announced, inside the arguments. */
  | "broken-arguments"
  /** Broken after its arguments were complete: the last character does not belong to it. */
  | "broken-end";

export abstract class CallReader {
  #status: CallStatus = "open";
  #name: string | undefined;
  #isAnnounced = false;
  #arguments = "";
  #hasAllArguments = false;

  /** One UTF-16 unit. Not to be called once the status is another than `open`. */
  abstract push(character: string): void;

  get status(): CallStatus {
    return this.#status;
  }

  /** The name, once it is certain that this is a call of an allowed function; then never again. */
  takeName(): string | undefined {
    if (this.#isAnnounced || this.#name === undefined) return undefined;
    this.#isAnnounced = true;
    return this.#name;
  }

  /** Arguments text that was read since the last time; only after the name was taken. */
  takeArguments(): string {
    if (!this.#isAnnounced) return "";
    const text = this.#arguments;
    this.#arguments = "";
    return text;
  }

  /** From here on this is a call. */
  protected announce(name: string): void {
    this.#name = name;
  }

  protected addArguments(text: string): void {
    this.#arguments += text;
  }

  /** The arguments are a whole JSON object. */
  protected endArguments(): void {
    this.#hasAllArguments = true;
  }

  protected get hasAllArguments(): boolean {
    return this.#hasAllArguments;
  }

  protected complete(): void {
    this.#status = "complete";
  }

  protected fail(): void {
    if (this.#name === undefined) this.#status = "rejected";
    else this.#status = this.#hasAllArguments ? "broken-end" : "broken-arguments";
  }
}
