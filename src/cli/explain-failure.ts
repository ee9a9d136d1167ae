/** From whatever ended the program to one safe line and an exit code. */
import { EXIT_CODES, ExitError } from "../base/exit-error.ts";
import { printable } from "../base/format.ts";

export interface Failure {
  readonly message: string;
  readonly exitCode: number;
}

/** Codes of other folders, which know nothing of exit codes. */
const MODEL_FILE_CODES = /^ERR_(MODEL|TOKENIZER|CHAT_TEMPLATE)/;
const DOWNLOAD_CODES = /^ERR_DOWNLOAD/;
/** An option is missing, or one that this machine or model cannot have, an instruction set for one. */
const USAGE_CODES = /^ERR_(INVALID_ARGUMENT|LICENSE_NOT_ACCEPTED)$/;

export function explainFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), exitCode: EXIT_CODES.other };
  return { message: printable(messageOf(error)), exitCode: exitCodeOf(error) };
}

function exitCodeOf(error: Error): number {
  if (error instanceof ExitError) return error.exitCode;
  const code = codeOf(error);
  if (USAGE_CODES.test(code)) return EXIT_CODES.usage;
  if (MODEL_FILE_CODES.test(code)) return EXIT_CODES.modelFile;
  if (DOWNLOAD_CODES.test(code)) return EXIT_CODES.download;
  return EXIT_CODES.other;
}

function messageOf(error: Error): string {
  const code = codeOf(error);
  if (error instanceof ExitError || code === "" || error.message.startsWith(code)) {
    return error.message;
  }
  return `${code}: ${error.message}`;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
