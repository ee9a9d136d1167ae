/**
 * One native engine on this thread, with a promise for each request: what tests and benchmarks use to
 * see tokens and logits without pool, text and ports.
 */
import {
  type EngineInfo,
  type EngineOptions,
  type EngineStats,
  FINISH_REASONS,
  type NativeEngine,
  type NativeFinish,
  type NativeRequest,
  type RequestId,
  type SamplingOptions,
  type SequenceId,
  type StepEvents,
} from "../native/addon-types.ts";
import { isEngineErrorCode } from "../native/engine-errors.ts";
import { loadAddon } from "../native/load-addon.ts";
import { EngineError } from "./endpoint.ts";

const ENGINE_DEFAULTS: Omit<EngineOptions, "modelPath"> = {
  threads: 1,
  isa: "auto",
  activations: "wide",
  quantize: "none",
  kvType: "f16",
  kvMemoryBytes: 64 * 1024 * 1024,
  maxContextTokens: 0,
  maxBatchTokens: 512,
  maxRunning: 16,
  maxQueued: 1024,
  maxPrefillChunk: 0,
  enablePrefixCache: true,
};

/** Every step of the sampler off: the most likely token, always. */
export const GREEDY: SamplingOptions = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  seed: 0,
};

const REQUEST_DEFAULTS: Omit<NativeRequest, "tokens"> = {
  ...GREEDY,
  tenantSalt: "",
  maxOutputTokens: 16,
  stopTokenIds: new Int32Array(),
  keepSequence: false,
  prefillOnly: false,
  logits: "none",
  jumpForward: true,
};

export type TokensRequest = Pick<NativeRequest, "tokens"> & Partial<NativeRequest>;

export interface TokensResult {
  readonly finish: Exclude<NativeFinish, "none" | "failed">;
  readonly tokens: Int32Array;
  readonly sequenceId: SequenceId;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly liveHit: boolean;
  readonly preemptedTokens: number;
  /** [rows, vocab] end to end, as the request's `logits` asked. */
  readonly logits: Float32Array;
  /** Rows of 1 + numTop end to end, as the request's `logprobs` asked (see `StepEvents`). */
  readonly logprobTokens: readonly number[];
  readonly logprobs: readonly number[];
}

/** A request that runs: abort it by `id`. */
export interface RunningTokens {
  readonly id: RequestId;
  readonly result: Promise<TokensResult>;
}

interface OpenRequest {
  readonly resolve: (result: TokensResult) => void;
  readonly reject: (error: EngineError) => void;
  readonly tokens: number[];
  readonly logits: Float32Array[];
  readonly logprobTokens: number[];
  readonly logprobs: number[];
}

export class DirectEngine {
  readonly #engine: NativeEngine;
  readonly #open: Map<RequestId, OpenRequest>;

  constructor(engine: NativeEngine, open: Map<RequestId, OpenRequest>) {
    this.#engine = engine;
    this.#open = open;
  }

  get info(): EngineInfo {
    return this.#engine.info;
  }

  /** @throws the addon's error, with its `code` */
  start(request: TokensRequest): RunningTokens {
    return this.#track(this.#engine.submit({ ...REQUEST_DEFAULTS, ...request }));
  }

  /** `tokens` are the new ones only. @throws the addon's error, with its `code` */
  startContinuation(sequence: SequenceId, request: TokensRequest): RunningTokens {
    const native = { ...REQUEST_DEFAULTS, ...request };
    return this.#track(this.#engine.continueSequence(sequence, native));
  }

  async runTokens(request: TokensRequest): Promise<TokensResult> {
    return this.start(request).result;
  }

  async continueTokens(sequence: SequenceId, request: TokensRequest): Promise<TokensResult> {
    return this.startContinuation(sequence, request).result;
  }

  fork(sequence: SequenceId, numTokens?: number): SequenceId {
    return this.#engine.fork(sequence, numTokens);
  }

  release(sequence: SequenceId): void {
    this.#engine.release(sequence);
  }

  abort(id: RequestId): void {
    this.#engine.abort(id);
  }

  stats(): EngineStats {
    return this.#engine.stats();
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  #track(id: RequestId): RunningTokens {
    const result = new Promise<TokensResult>((resolve, reject) => {
      const nothing = { tokens: [], logits: [], logprobTokens: [], logprobs: [] };
      this.#open.set(id, { resolve, reject, ...nothing });
    });
    return { id, result };
  }
}

/**
 * @param onStep sees every delivery of events, after the promises' own share of it
 * @throws the addon's error, with its `code`
 */
export async function openNativeEngine(
  options: Pick<EngineOptions, "modelPath"> & Partial<EngineOptions>,
  onStep?: (step: StepEvents) => void,
): Promise<DirectEngine> {
  const addon = loadAddon();
  const open = new Map<RequestId, OpenRequest>();
  const engine = await addon.openEngine({ ...ENGINE_DEFAULTS, ...options }, (step) => {
    for (let i = 0; i < step.requestIds.length; i++) readEvent(open, step, i, addon.errorCodes);
    onStep?.(step);
  });
  return new DirectEngine(engine, open);
}

function readEvent(
  open: Map<RequestId, OpenRequest>,
  step: StepEvents,
  i: number,
  errorCodes: readonly string[],
): void {
  const id = step.requestIds[i] as RequestId;
  const request = open.get(id);
  if (request === undefined) return;
  request.tokens.push(...step.tokens.subarray(step.tokenStart[i], step.tokenStart[i + 1]));
  request.logits.push(step.logits.subarray(step.logitsStart[i], step.logitsStart[i + 1]));
  const rows = [step.logprobsStart[i], step.logprobsStart[i + 1]] as const;
  request.logprobTokens.push(...step.logprobTokens.subarray(...rows));
  request.logprobs.push(...step.logprobs.subarray(...rows));
  const finish = FINISH_REASONS[step.finish[i] as number] as NativeFinish;
  if (finish === "none") return;
  open.delete(id);
  if (finish === "failed") {
    const code = errorCodes[step.errorCode[i] as number];
    const known = isEngineErrorCode(code) ? code : "ERR_INTERNAL";
    request.reject(new EngineError(known, `the engine ended request ${id}`));
    return;
  }
  request.resolve({
    finish,
    tokens: Int32Array.from(request.tokens),
    sequenceId: step.sequenceIds[i] as SequenceId,
    promptTokens: step.promptTokens[i] as number,
    cachedTokens: step.cachedTokens[i] as number,
    liveHit: step.liveHit[i] === 1,
    preemptedTokens: step.preemptedTokens[i] as number,
    logits: joined(request.logits),
    logprobTokens: request.logprobTokens,
    logprobs: request.logprobs,
  });
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
