/**
 * Failures of the text layer. `TextModelError`: the checkpoint's tokenizer cannot be used, met at
 * load time. `TemplateError`: a conversation that the chat template refuses, met per request.
 * `GrammarError`: output of this model cannot be held to a grammar, met per request.
 */

export type TextModelErrorCode =
  /** A part is missing or not what its format says. */
  | "ERR_TOKENIZER_FORMAT"
  /** Well-formed, but a kind of tokenizer that is not supported; the message names it. */
  | "ERR_TOKENIZER_TYPE";

export class TextModelError extends Error {
  readonly code: TextModelErrorCode;

  constructor(code: TextModelErrorCode, message: string) {
    super(message);
    this.name = "TextModelError";
    this.code = code;
  }
}

export class TemplateError extends Error {
  readonly code = "ERR_CHAT_TEMPLATE";

  /** @param message the template's own words where it raised the exception itself */
  constructor(message: string) {
    super(message);
    this.name = "TemplateError";
  }
}

export class GrammarError extends Error {
  readonly code = "ERR_GRAMMAR";

  constructor(message: string) {
    super(message);
    this.name = "GrammarError";
  }
}
