/**
 * The whole surface between TypeScript and the addon, matched by hand in `native/addon/`.
 * Only numbers, typed arrays, strings of configuration and small option objects cross; no memory is
 * shared: what goes in is copied, what comes out belongs to JS.
 */

export type RequestId = number & { readonly __brand: "RequestId" };
export type SequenceId = number & { readonly __brand: "SequenceId" };

/** Equals `error_code_name` in native/base/result.cpp (tested against `NativeAddon.errorCodes`). */
export type EngineErrorCode =
  | "ERR_MODEL_FILE"
  | "ERR_MODEL_FORMAT"
  | "ERR_MODEL_TYPE"
  | "ERR_MODEL_ARCH"
  | "ERR_MODEL_TENSOR"
  | "ERR_MODEL_MEMORY"
  | "ERR_TOKENIZER_FORMAT"
  | "ERR_TOKENIZER_TYPE"
  | "ERR_GRAMMAR"
  | "ERR_CONTEXT_TOO_LONG"
  | "ERR_QUEUE_FULL"
  | "ERR_SEQUENCE_RELEASED"
  | "ERR_ENGINE_CLOSED"
  | "ERR_ENGINE_FAILED"
  | "ERR_INVALID_ARGUMENT"
  | "ERR_INTERNAL";

export type IsaLevel = "ref" | "avx2" | "avx512" | "amx";

export interface DeviceInfo {
  readonly kind: "cpu";
  readonly name: string;
  /** Levels this machine can run, slowest first. */
  readonly isaLevels: readonly IsaLevel[];
  readonly cores: number;
}

export interface EngineOptions {
  readonly modelPath: string;
  readonly threads: number;
  readonly isa: IsaLevel | "auto";
  readonly activations: "wide" | "8" | "float";
  /** Type that matrices of a float model are quantized to at load. */
  readonly quantize: "none" | "q8_0" | "q4_0" | "q4_k";
  readonly kvType: "f16" | "q8_0" | "f32";
  readonly kvMemoryBytes: number;
  /** Longest sequence in tokens; 0 takes the model's context. */
  readonly maxContextTokens: number;
  readonly maxBatchTokens: number;
  readonly maxRunning: number;
  readonly maxQueued: number;
  /** Largest share of one step for one prompt, tokens; 0 is the whole step. */
  readonly maxPrefillChunk: number;
  readonly enablePrefixCache: boolean;
}

export type KvNeeds = Pick<
  EngineOptions,
  "modelPath" | "kvType" | "maxContextTokens" | "maxBatchTokens"
>;

export interface SamplingOptions {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly repetitionPenalty: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  /** Any non-negative integer up to 2^53 - 1. */
  readonly seed: number;
  /** Added to the logits of these tokens before all else, for greedy choices too. */
  readonly logitBias?: { readonly tokens: Int32Array; readonly values: Float64Array };
}

/** Log probabilities of the output's tokens: of the model's own logits, before grammar and sampling. */
export interface LogprobOptions {
  /** Of the most likely tokens in each place, 0 to 20. */
  readonly numTop: number;
  /** Of the prompt's tokens too, which then are all computed. Not for `continueSequence`. */
  readonly ofPrompt: boolean;
}

export interface NativeRequest extends SamplingOptions {
  /** Whole prompt; for `continueSequence` only the new tokens. */
  readonly tokens: Int32Array;
  readonly tenantSalt: string;
  readonly maxOutputTokens: number;
  readonly stopTokenIds: Int32Array;
  readonly keepSequence: boolean;
  readonly prefillOnly: boolean;
  /** Rows of logits in the events: none, those sampled from, or every computed prompt row too. */
  readonly logits: "none" | "sampled" | "all";
  readonly logprobs?: LogprobOptions;
  /** What the output must match. */
  readonly grammar?: NativeGrammar;
  /** Tokens that the grammar forces cost no sampling and no step each. The output is the same without. */
  readonly jumpForward: boolean;
}

/** Values of `StepEvents.finish`. */
export const FINISH_REASONS = ["none", "stop", "length", "aborted", "failed", "prefilled"] as const;
export type NativeFinish = (typeof FINISH_REASONS)[number];

/** ONE call per engine step, for all requests together. n = number of events. */
export interface StepEvents {
  readonly requestIds: Uint32Array; // [n]
  readonly sequenceIds: Uint32Array; // [n]
  readonly tokenStart: Uint32Array; // [n + 1]: event i has tokens[tokenStart[i], tokenStart[i + 1])
  readonly tokens: Int32Array;
  readonly finish: Uint8Array; // [n] index into FINISH_REASONS
  readonly admitted: Uint8Array; // [n] 1: the request left the waiting queue
  readonly promptTokens: Int32Array; // [n]
  readonly cachedTokens: Int32Array; // [n]
  readonly liveHit: Uint8Array; // [n] 1: the cached tokens come from a live sequence
  readonly preemptedTokens: Int32Array; // [n]
  readonly errorCode: Uint8Array; // [n] index into errorCodes, valid when finish is "failed"
  readonly logitsStart: Uint32Array; // [n + 1] in floats
  readonly logits: Float32Array;
  /**
   * [n + 1] into the two below. Rows of 1 + numTop: the token itself, then the most likely ones. First
   * those of prompt tokens (all but the prompt's first), then one for each of the event's tokens.
   */
  readonly logprobsStart: Uint32Array;
  readonly logprobTokens: Int32Array;
  readonly logprobs: Float64Array;
  readonly stepUs: number;
}

export interface EngineStats {
  readonly numWaiting: number;
  readonly numRunning: number;
  readonly numLiveSequences: number;
  readonly numBlocks: number;
  readonly numFreeBlocks: number;
  readonly numCachedBlocks: number;
  readonly blockSize: number;
  readonly numSteps: number;
  readonly prefillTokens: number;
  readonly cachedTokens: number;
  readonly decodeTokens: number;
  readonly hashedTokens: number;
  readonly numPreemptions: number;
  /** Output tokens that were not sampled, because the grammar had one choice. */
  readonly forcedTokens: number;
  /** Masks that were not ready when the forward pass was. */
  readonly maskWaits: number;
}

export interface EngineInfo {
  readonly arch: string;
  readonly isa: IsaLevel;
  readonly numLayers: number;
  readonly hidden: number;
  readonly vocab: number;
  readonly context: number;
  readonly numKvBlocks: number;
  readonly threads: number;
  readonly weightBytes: number;
  readonly kvBytes: number;
}

export interface NativeEngine {
  readonly info: EngineInfo;
  /** Validates, copies, enqueues; never waits. @throws {EngineError} */
  submit(request: NativeRequest): RequestId;
  /** @throws {EngineError} ERR_SEQUENCE_RELEASED when the handle's blocks were given up */
  continueSequence(id: SequenceId, request: NativeRequest): RequestId;
  /**
   * A second live sequence with the first `numTokens` tokens, all by default.
   * @throws {EngineError} ERR_SEQUENCE_RELEASED, ERR_INVALID_ARGUMENT: it has fewer
   */
  fork(id: SequenceId, numTokens?: number): SequenceId;
  release(id: SequenceId): void;
  /** Idempotent; an unknown id is not an error. */
  abort(id: RequestId): void;
  /** Computes nothing for the request until `resume`; otherwise like `abort`. */
  pause(id: RequestId): void;
  resume(id: RequestId): void;
  stats(): EngineStats;
  /** Idempotent; afterwards every call throws ERR_ENGINE_CLOSED. */
  close(): Promise<void>;
}

export interface TensorSummary {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly bytes: number;
}

export type MetadataValue = string | number | boolean | readonly string[] | Float64Array;

export interface ModelRefusal {
  readonly code: EngineErrorCode;
  readonly message: string;
}

/** KV bytes of one sequence. */
export interface KvCost {
  readonly type: EngineOptions["kvType"];
  /** In the layers that see all tokens. */
  readonly bytesPerToken: number;
  /** In all other layers, once their windows are full. */
  readonly windowBytes: number;
}

/** What `models inspect` and the tokenizer need of a checkpoint, without loading weights. */
export interface ModelInspection {
  readonly container: "gguf" | "safetensors";
  /** Empty when the architecture is not one this build runs; `refusals` say why. */
  readonly arch: string;
  readonly context: number;
  readonly numLayers: number;
  readonly hidden: number;
  readonly ffn: number;
  readonly numHeads: number;
  readonly numKvHeads: number;
  readonly headDim: number;
  readonly vocab: number;
  readonly weightBytes: number;
  /** One a KV type, the default first; empty when the configuration is refused. */
  readonly kvCosts: readonly KvCost[];
  readonly tensors: readonly TensorSummary[];
  /**
   * GGUF metadata by key (string arrays, numeric arrays as Float64Array), but for arrays as long as a
   * vocabulary; empty for safetensors.
   */
  readonly metadata: Readonly<Record<string, MetadataValue>>;
  /** Keys that a query of a sliding layer sees, 0 without such layers. */
  readonly slidingWindow: number;
  readonly numSlidingLayers: number;
  /** "none", "linear", "llama3", "yarn", "longrope"; empty when that is not known. */
  readonly ropeScaling: string;
  /** 0 for a dense model. */
  readonly numExperts: number;
  readonly numExpertsUsed: number;
  /** Why the engine would refuse the file, all that can be told at once; empty when it would not. */
  readonly refusals: readonly ModelRefusal[];
}

/** What becomes of the spelling of a control token: text, the token, or the token unless guarded. */
export type ControlTokens = "text" | "parsed" | "guarded";

export interface TokenizerFacts {
  /** How the vocabulary spells bytes. */
  readonly kind: "byte-level" | "sentencepiece";
  readonly vocabSize: number;
  readonly bosId?: number;
  /** A prompt starts with BOS. */
  readonly addsBos: boolean;
  /** Declared ends of a generation, of GGUF files; EOS first. */
  readonly endIds: Int32Array;
  /** Text must be normalized (NFC) before it is encoded. */
  readonly needsNfc: boolean;
  readonly stripsLeadingSpace: boolean;
  readonly controlTokens: readonly { readonly id: number; readonly text: string }[];
  /** Output bytes of all ids; those of id i are [byteStarts[i], byteStarts[i + 1]). */
  readonly bytes: Uint8Array;
  readonly byteStarts: Uint32Array;
  readonly warning?: string;
}

/** Where a text stands in a grammar: for tests and benchmarks. The engine has its own. */
export interface NativeMatcher {
  /** Takes the token; false when the grammar has no such continuation: then nothing changed. */
  accept(token: number): boolean;
  /** The tokens that may come next: bit t % 32 of word t >> 5. */
  mask(): Uint32Array;
  /** The text may end here. */
  isComplete(): boolean;
  /** The only token that may come next, where the grammar leaves no choice of text. */
  forcedToken(): number | undefined;
}

/** A grammar compiled for one tokenizer. Immutable; engines of this thread take it in requests. */
export interface NativeGrammar {
  /** A new one, at the start of the text. */
  matcher(): NativeMatcher;
}

/** One a file in the process, shared by its threads. */
export interface NativeTokenizer {
  readonly facts: TokenizerFacts;
  /** Lone surrogates count as U+FFFD. `startsPrompt`: some tokenizers put a space in front then. */
  encode(text: string, controlTokens: ControlTokens, startsPrompt: boolean): Int32Array;
  /** On a thread of its own. */
  encodeAsync(
    text: string,
    controlTokens: ControlTokens,
    startsPrompt: boolean,
  ): Promise<Int32Array>;
  /** The token of this exact spelling. */
  findToken(text: string): number | undefined;
  /**
   * Whether `compileGrammar` would take the spec, without the vocabulary.
   * @param spec a grammar as JSON (native/grammar/grammar_spec.h)
   * @throws {EngineError} ERR_GRAMMAR, with what is wrong and where
   */
  checkGrammar(spec: string): void;
  /**
   * Found by content when a thread of the process compiled it lately; else it takes milliseconds, and
   * the first one some tens of them for the vocabulary.
   * @throws {EngineError} ERR_GRAMMAR
   */
  compileGrammar(spec: string): NativeGrammar;
  /** On a thread of its own. */
  compileGrammarAsync(spec: string): Promise<NativeGrammar>;
}

export interface NativeAddon {
  /** Error code names by native index. */
  readonly errorCodes: readonly string[];
  /** Never throws. */
  probeDevices(): readonly DeviceInfo[];
  /** @throws {EngineError} ERR_MODEL_FILE, ERR_MODEL_FORMAT */
  inspectModel(path: string): ModelInspection;
  /**
   * The least `kvMemoryBytes` with which `openEngine` takes that `maxContextTokens`; reads no weights.
   * @throws {EngineError} ERR_MODEL_*, ERR_INVALID_ARGUMENT for more tokens than the model takes
   */
  minKvBytes(needs: KvNeeds): number;
  /**
   * @param path a GGUF file, or a folder with tokenizer.json
   * @throws {EngineError} ERR_TOKENIZER_FORMAT, ERR_TOKENIZER_TYPE, and as `inspectModel`
   */
  openTokenizer(path: string): NativeTokenizer;
  /** Loads on a thread of its own. The promise rejects with an EngineError. */
  openEngine(options: EngineOptions, onStep: (events: StepEvents) => void): Promise<NativeEngine>;
}
