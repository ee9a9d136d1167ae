/** How the output of a turn is written: which family's calls, which family's thinking. */

/** A family of call formats; `call-formats.ts` says what each looks like. */
export type ToolFormat =
  | "hermes"
  | "qwen-coder"
  | "seed"
  | "glm"
  | "minimax"
  | "dsml"
  | "llama"
  | "pythonic"
  | "mistral"
  | "mistral-args"
  | "granite"
  | "deepseek"
  | "kimi"
  | "command-r"
  | "command-r7b"
  | "apertus"
  | "gemma"
  | "harmony";

/** A family of thinking markers; `thinking-formats.ts` has them. */
export type ThinkingFormat =
  | "think"
  | "granite"
  | "mistral"
  | "seed"
  | "command-r7b"
  | "apertus"
  | "gemma"
  | "harmony";

/**
 * - `closed`: thinking stands between its markers, at the start or behind a call.
 * - `open`: the prompt has opened it.
 * - `bare`: the answer is JSON; what stands in front of it is thinking, opened or not.
 */
export type ThinkingStart = "closed" | "open" | "bare";

export interface OfferedTool {
  readonly name: string;
  /** Parameters whose values are strings, for forms that write strings without quotes. */
  readonly textParameters?: readonly string[];
}

/** Plain data: it crosses threads. */
export interface OutputFormat {
  /** undefined: calls are not looked for. A call to a tool that is not here stays text. */
  readonly calls?: { readonly format: ToolFormat; readonly tools: readonly OfferedTool[] };
  /** undefined: the model does not think. */
  readonly thinking?: { readonly format: ThinkingFormat; readonly start: ThinkingStart };
}
