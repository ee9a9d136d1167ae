/** A ChatML template and a tokenizer whose tokens are words, blanks and control markers. */
import type {
  ChatMessage,
  ChatTemplate,
  OutputDecoder,
  RenderedText,
  RenderOptions,
  TextModel,
  Tokenizer,
} from "../../../src/text/text-types.ts";

const CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] as const;
export const END_OF_TEXT = 0;
export const IM_END = 2;

export class FakeTokenizer implements Tokenizer {
  readonly vocabSize = 1_000_000;
  readonly eogIds = new Set([END_OF_TEXT, IM_END]);
  readonly bosId = undefined;
  /** Every text given to `encode`, in order. */
  readonly encodedTexts: string[] = [];
  /** Every grammar given to `checkGrammar` and to `prepareGrammar`, in order. */
  readonly checkedGrammars: string[] = [];
  readonly preparedGrammars: string[] = [];
  readonly #pieces: string[] = [...CONTROL];
  readonly #ids = new Map<string, number>(CONTROL.map((piece, id) => [piece, id]));

  encode(text: RenderedText): Int32Array {
    this.encodedTexts.push(text);
    return this.ids(text);
  }

  async encodeAsync(text: RenderedText): Promise<Int32Array> {
    return this.encode(text);
  }

  encodePlain(text: string): Int32Array {
    return this.ids(text);
  }

  async encodePlainAsync(text: string): Promise<Int32Array> {
    return this.encodePlain(text);
  }

  tokenBytes(id: number): Uint8Array {
    return new TextEncoder().encode(id < CONTROL.length ? "" : this.tokenText(id));
  }

  tokenText(id: number): string {
    return this.#pieces[id] ?? "";
  }

  checkGrammar(spec: string): void {
    this.checkedGrammars.push(spec);
  }

  async prepareGrammar(spec: string): Promise<void> {
    this.preparedGrammars.push(spec);
  }

  compileGrammar(): never {
    throw new Error("only an engine compiles grammars");
  }

  /** Ids of `text` without counting as work. */
  ids(text: string): Int32Array {
    const pieces = text.match(/<\|[a-z_]+\|>|\s|[^\s<]+|</g) ?? [];
    return Int32Array.from(pieces, (piece) => this.piece(piece));
  }

  /** The id of a piece that `encode` might never make: models may spell a word in two tokens. */
  piece(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const id = this.#pieces.length;
    this.#pieces.push(text);
    this.#ids.set(text, id);
    return id;
  }

  textOf(ids: Int32Array): string {
    return Array.from(ids, (id) => this.tokenText(id)).join("");
  }
}

function guard(text: string): RenderedText {
  return text.replaceAll("<|", "<\u2060|") as RenderedText;
}

function renderMessage(message: ChatMessage): string {
  const calls = (message.tool_calls ?? []).map(
    (call) =>
      `<tool_call>\n{"name": "${call.function.name}", "arguments": ${call.function.arguments}}\n</tool_call>`,
  );
  const body = [message.content, ...calls].filter((part) => part !== "").join("\n");
  return `<|im_start|>${message.role}\n${guard(body)}<|im_end|>\n`;
}

export interface FakeTemplate extends ChatTemplate {
  lastMessages: readonly ChatMessage[];
  /** Conversations that begin with this user message, as they were rendered. */
  rendersOf: (question: string) => readonly (readonly ChatMessage[])[];
  /** Templates that rewrite history: what becomes of all messages before they are rendered. */
  rewrite: (messages: readonly ChatMessage[]) => readonly ChatMessage[];
  numRenders: number;
}

export function createFakeTemplate(): FakeTemplate {
  const rendered: (readonly ChatMessage[])[] = [];
  return {
    rendersOf: (question) => rendered.filter(([first]) => first?.content === question),
    toolFormat: "hermes",
    thinkingFormat: undefined,
    toolStyle: "own",
    rewrite: (messages) => messages,
    numRenders: 0,
    lastMessages: [],
    guard,
    render(messages, { tools, addGenerationPrompt }: RenderOptions) {
      this.numRenders++;
      this.lastMessages = messages;
      rendered.push(messages);
      const head =
        tools.length > 0 ? `<|im_start|>tools\n${JSON.stringify(tools)}<|im_end|>\n` : "";
      const turns = this.rewrite(messages).map(renderMessage).join("");
      return `${head}${turns}${addGenerationPrompt ? "<|im_start|>assistant\n" : ""}` as RenderedText;
    },
  };
}

export interface FakeTextModel extends TextModel {
  readonly tokenizer: FakeTokenizer;
  readonly chatTemplate: FakeTemplate;
}

export function createFakeTextModel(): FakeTextModel {
  return {
    tokenizer: new FakeTokenizer(),
    chatTemplate: createFakeTemplate(),
    chatWarning: undefined,
    samplingDefaults: {},
    createOutputDecoder(): OutputDecoder {
      throw new Error("the session does not decode");
    },
  };
}
