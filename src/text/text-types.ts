/**
 * What the session and the engine worker know of text: a tokenizer, a chat template and a decoder of
 * model output. Plain interfaces; `load-text-model.ts` makes them from a checkpoint.
 */

import type { NativeGrammar } from "../native/addon-types.ts";
import type { OutputFormat, ThinkingFormat, ToolFormat } from "./output/output-format.ts";

/** One message in the form that chat templates read. `content` is never null. */
export interface ChatMessage {
  readonly role: "system" | "developer" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ChatToolCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
}

export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  /** `arguments` is the raw JSON text; the template layer parses it when the template needs that. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A tool as templates see it: the Chat Completions form. */
export interface ChatTool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: unknown;
  };
}

export interface RenderOptions {
  readonly tools: readonly ChatTool[];
  readonly addGenerationPrompt: boolean;
  /** Frozen when a lane starts, so that a session over midnight keeps its prefix. */
  readonly date: Date;
  /** How much the model should think: "none", "low", ...; undefined: as the template has it. */
  readonly reasoningEffort?: string | undefined;
}

/**
 * Rendered prompt text. Text that came from messages is guarded (see `guard.ts`): special-token
 * literals inside it do not become control tokens. Only `Tokenizer.encode` takes it.
 */
export type RenderedText = string & { readonly __brand: "RenderedText" };

export interface ChatTemplate {
  /** @throws {TemplateError} with the template's own message */
  render(messages: readonly ChatMessage[], options: RenderOptions): RenderedText;
  /**
   * Text of this model's output as `render` would show it inside a finished assistant turn is
   * guarded too; this applies the same guard, so that the two can be compared.
   */
  guard(text: string): RenderedText;
  /** How the template teaches the model to write calls. */
  readonly toolFormat: ToolFormat;
  /** How the model writes down its thinking; undefined: the template knows of none. */
  readonly thinkingFormat: ThinkingFormat | undefined;
  readonly toolStyle: ToolStyle;
}

/** Tools are shown by the template itself, by ChatML blocks of ours, or as text of the system turn. */
export type ToolStyle = "own" | "chatml" | "text";

export interface Tokenizer {
  readonly vocabSize: number;
  /** End-of-generation ids from every source the file offers; never sent as text. */
  readonly eogIds: ReadonlySet<number>;
  readonly bosId: number | undefined;
  /** Ids of a rendered prompt: template markers become control tokens, guarded content does not. */
  encode(text: RenderedText, options: { readonly addBos: boolean }): Int32Array;
  /** The same; a long text does not hold up this thread. */
  encodeAsync(text: RenderedText, options: { readonly addBos: boolean }): Promise<Int32Array>;
  /** Ids of plain text, special-token literals parsed only when asked. BOS only when asked. */
  encodePlain(
    text: string,
    options: { readonly parseSpecial: boolean; readonly addBos: boolean },
  ): Int32Array;
  /** The same; a long text does not hold up this thread. */
  encodePlainAsync(
    text: string,
    options: { readonly parseSpecial: boolean; readonly addBos: boolean },
  ): Promise<Int32Array>;
  /** Raw bytes a token adds to the output text; empty for control tokens. */
  tokenBytes(id: number): Uint8Array;
  /** Literal text of a token, control tokens included (for comparing with rendered text). */
  tokenText(id: number): string;
  /**
   * Whether the spec is a grammar at all (native/grammar/grammar_spec.h); cheap.
   * @throws {Error} code ERR_GRAMMAR, with what is wrong and where
   */
  checkGrammar(spec: string): void;
  /** Compiles on a thread of its own what `compileGrammar` then finds, on whatever thread. */
  prepareGrammar(spec: string): Promise<void>;
  /** @throws {Error} code ERR_GRAMMAR */
  compileGrammar(spec: string): NativeGrammar;
}

/** A token, and how likely the model had it. Names of fields are the wire's: it goes there as it is. */
export interface RankedToken {
  /** Its text; `bytes:\\xf0\\x9f` when that is no whole characters, the spelling of a control token. */
  readonly token: string;
  readonly bytes: readonly number[];
  /** null: the first token of a prompt, in front of which there is nothing. */
  readonly logprob: number | null;
}

/** A token of the text; `bytes` are those that the text has of it. */
export interface TokenLogprob extends RankedToken {
  readonly top_logprobs: readonly RankedToken[];
}

/** What the engine says of a token: its log probability, and the most likely ones in its place. */
export interface TokenScore {
  readonly logprob: number | null;
  readonly top: readonly { readonly id: number; readonly logprob: number }[];
}

/** Parsed model output, in order. Concatenated deltas do not depend on how tokens were grouped. */
export type OutputEvent =
  /** `logprobs`: of the tokens that the delta completes, where the tokens came with scores. */
  | {
      readonly type: "text";
      readonly delta: string;
      readonly logprobs?: readonly TokenLogprob[];
    }
  | { readonly type: "reasoning"; readonly delta: string }
  | { readonly type: "call_start"; readonly name: string }
  | { readonly type: "call_arguments"; readonly delta: string }
  /** The call is complete and its arguments are a JSON object. */
  | { readonly type: "call_end" }
  /** The token cap cut a call that had not been announced. */
  | { readonly type: "call_cut" };

export interface OutputDecoderOptions {
  readonly stop: readonly string[];
  /** The output goes on in the middle of a text; else it starts one, as a message does. */
  readonly continuesText?: boolean;
  /** undefined: everything is text. */
  readonly format?: OutputFormat;
  /** Tokens without text have log probabilities too: one entry a token, where no stop string cuts. */
  readonly reportsEveryToken?: boolean;
}

/**
 * Tokens in, events out. Holds back half UTF-8 characters, partial stop strings and partial
 * markers. After `stopped` is true every further push is ignored.
 */
export interface OutputDecoder {
  /** @param scores one a token: the text comes with log probabilities */
  push(ids: Int32Array, scores?: readonly TokenScore[]): readonly OutputEvent[];
  /** Flushes what is held back; an open call that is not complete yields no `call_end`. */
  finish(wasCut?: boolean): readonly OutputEvent[];
  /** A stop string was met. */
  readonly stopped: boolean;
  /** Tokens pushed up to and including the one that completed the stop string. */
  readonly numTokens: number;
  /** Those of thinking, its markers included. */
  readonly numReasoningTokens: number;
}

/** Everything textual of one loaded model. */
export interface TextModel {
  readonly tokenizer: Tokenizer;
  /** undefined: the checkpoint has no template and no known markers; chat is refused. */
  readonly chatTemplate: ChatTemplate | undefined;
  /** For the operator: the template is missing, broken or a guess. */
  readonly chatWarning: string | undefined;
  /** From generation_config.json, else undefined fields. */
  readonly samplingDefaults: {
    readonly temperature?: number;
    readonly topP?: number;
    readonly topK?: number;
    readonly minP?: number;
  };
  createOutputDecoder(options: OutputDecoderOptions): OutputDecoder;
}
