/**
 * Failures of the engine as plain data: what is left of an Error once it crosses a thread, where
 * structured cloning drops `code`.
 */
import type { EngineErrorCode } from "./addon-types.ts";

export interface EngineFailure {
  readonly code: EngineErrorCode;
  /** One sentence with the facts, without the code. */
  readonly message: string;
}

/** A record, so that the compiler asks for every code of the union. */
const CODES: Readonly<Record<EngineErrorCode, true>> = {
  ERR_MODEL_FILE: true,
  ERR_MODEL_FORMAT: true,
  ERR_MODEL_TYPE: true,
  ERR_MODEL_ARCH: true,
  ERR_MODEL_TENSOR: true,
  ERR_MODEL_MEMORY: true,
  ERR_TOKENIZER_FORMAT: true,
  ERR_TOKENIZER_TYPE: true,
  ERR_GRAMMAR: true,
  ERR_CONTEXT_TOO_LONG: true,
  ERR_QUEUE_FULL: true,
  ERR_SEQUENCE_RELEASED: true,
  ERR_ENGINE_CLOSED: true,
  ERR_ENGINE_FAILED: true,
  ERR_INVALID_ARGUMENT: true,
  ERR_INTERNAL: true,
};

export const ENGINE_ERROR_CODES: readonly string[] = Object.keys(CODES);

export function isEngineErrorCode(code: unknown): code is EngineErrorCode {
  return typeof code === "string" && Object.hasOwn(CODES, code);
}

/** What was thrown, as a failure; anything without a code of ours is ERR_INTERNAL. */
export function engineFailure(thrown: unknown): EngineFailure {
  if (!(thrown instanceof Error)) return { code: "ERR_INTERNAL", message: String(thrown) };
  const code: unknown = "code" in thrown ? thrown.code : undefined;
  if (!isEngineErrorCode(code)) return { code: "ERR_INTERNAL", message: thrown.message };
  const prefix = `${code}: `;
  const { message } = thrown;
  return { code, message: message.startsWith(prefix) ? message.slice(prefix.length) : message };
}
