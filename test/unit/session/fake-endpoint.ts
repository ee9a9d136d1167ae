/**
 * An engine that says what its script tells it to, and counts as a real one does: live sequences,
 * whole cached blocks, at least one token computed.
 */
import { once } from "node:events";
import {
  type EngineEndpoint,
  EngineError,
  type SequenceRef,
  type TurnEvent,
  type TurnFinish,
  type TurnRequest,
  type TurnResult,
} from "../../../src/engine/endpoint.ts";
import type { OutputEvent } from "../../../src/text/text-types.ts";

const BLOCK_TOKENS = 16;

export interface ScriptedTurn {
  /** One batch of output events an engine step. */
  readonly steps?: readonly (readonly OutputEvent[])[];
  /** Sampled tokens; default: those of the steps' text, and the end of generation. */
  readonly tokens?: readonly number[];
  readonly finish?: TurnFinish;
  readonly reasoningTokens?: number;
  readonly isQueued?: boolean;
  /** Waited for after "queued", before "admitted". */
  readonly admission?: Promise<void>;
  /** Waited for after "admitted", before the output. */
  readonly computing?: Promise<void>;
  /** Its output does not come before it is aborted. */
  readonly isEndless?: boolean;
  readonly refuses?: EngineError;
  readonly failsAfterOutput?: EngineError;
  readonly dropsSequence?: boolean;
}

export interface RecordedRequest {
  readonly request: TurnRequest;
  /** Everything the sequence was asked to hold, continued part included. */
  readonly allTokens: readonly number[];
}

export class FakeEndpoint implements EngineEndpoint {
  readonly info;
  readonly requests: RecordedRequest[] = [];
  readonly released: SequenceRef[] = [];
  readonly script: ScriptedTurn[] = [];
  readonly #sample: (text: string) => Int32Array;
  readonly #live = new Map<number, readonly number[]>();
  #computed: { salt: string; tokens: readonly number[] }[] = [];
  #nextSequenceId = 1;

  /** @param sample tokens of a whole output text, its end included */
  constructor(sample: (text: string) => Int32Array, contextTokens = 4096) {
    this.#sample = sample;
    this.info = {
      arch: "fake",
      isa: "ref",
      numLayers: 1,
      hidden: 1,
      vocab: 1_000_000,
      context: contextTokens,
      numKvBlocks: 1,
      threads: 1,
      weightBytes: 0,
      kvBytes: 0,
    } as const;
  }

  get numLiveSequences(): number {
    return this.#live.size;
  }

  /** Memory pressure: live sequences are given up, their blocks stay cached or are evicted too. */
  loseSequences(loss: "blocks stay" | "blocks evicted"): void {
    this.#live.clear();
    if (loss === "blocks evicted") this.#computed = [];
  }

  async runTurn(
    request: TurnRequest,
    onEvent: (event: TurnEvent) => void,
    signal: AbortSignal,
  ): Promise<TurnResult> {
    const script = this.script.shift() ?? {};
    if (script.refuses) throw script.refuses;
    const { prompt, liveHit } = this.#promptOf(request, script);
    this.requests.push({ request, allTokens: prompt });
    const cachedTokens = liveHit
      ? prompt.length - request.tokens.length - (this.#lastWasSampled(request) ? 1 : 0)
      : this.#cachedTokens(request.tenantSalt, prompt);
    if (script.isQueued) onEvent({ type: "queued" });
    await script.admission;
    const aborted = () => this.#result(request, prompt, [], "aborted", { cachedTokens, liveHit });
    if (signal.aborted) return aborted();
    onEvent({ type: "admitted", promptTokens: prompt.length, cachedTokens, liveHit });
    await script.computing;
    if (script.isEndless && !signal.aborted) await once(signal, "abort");
    if (signal.aborted) return aborted();
    if (request.prefillOnly) {
      return this.#result(request, prompt, [], "prefilled", { cachedTokens, liveHit });
    }
    for (const events of script.steps ?? []) {
      onEvent({ type: "output", events });
      if (signal.aborted) return aborted();
    }
    if (script.failsAfterOutput) throw script.failsAfterOutput;
    const tokens = script.tokens ?? [...this.#sample(textOf(script.steps ?? []))];
    const finish = script.finish ?? "stop";
    return this.#result(request, prompt, tokens, finish, { cachedTokens, liveHit }, script);
  }

  release(sequence: SequenceRef): void {
    this.released.push(sequence);
    this.#live.delete(sequence.sequenceId);
  }

  snapshots() {
    return [];
  }

  async stats() {
    return [];
  }

  async close(): Promise<void> {
    this.#live.clear();
  }

  #promptOf(request: TurnRequest, script: ScriptedTurn) {
    const { continueFrom } = request;
    if (!continueFrom) return { prompt: [...request.tokens], liveHit: false };
    const held = this.#live.get(continueFrom.sequenceId);
    if (!held) {
      this.script.unshift(script);
      throw new EngineError("ERR_SEQUENCE_RELEASED", "the sequence was released");
    }
    if (request.fork) {
      const kept = held.slice(0, continueFrom.numTokens);
      return { prompt: [...kept, ...request.tokens], liveHit: true };
    }
    this.#live.delete(continueFrom.sequenceId);
    return { prompt: [...held, ...request.tokens], liveHit: true };
  }

  readonly #sampledSequences = new Set<number>();

  #lastWasSampled({ continueFrom }: TurnRequest): boolean {
    return continueFrom !== undefined && this.#sampledSequences.has(continueFrom.sequenceId);
  }

  #cachedTokens(salt: string, prompt: readonly number[]): number {
    let numCached = 0;
    for (const entry of this.#computed.filter((other) => other.salt === salt)) {
      let common = 0;
      const limit = Math.min(entry.tokens.length, prompt.length - 1);
      while (common < limit && entry.tokens[common] === prompt[common]) common++;
      numCached = Math.max(numCached, Math.floor(common / BLOCK_TOKENS) * BLOCK_TOKENS);
    }
    return numCached;
  }

  #result(
    request: TurnRequest,
    prompt: readonly number[],
    sampled: readonly number[],
    finish: TurnFinish,
    reuse: { readonly cachedTokens: number; readonly liveHit: boolean },
    script: ScriptedTurn = {},
  ): TurnResult {
    const all = [...prompt, ...sampled];
    const computed = sampled.length > 0 ? all.slice(0, -1) : all;
    this.#computed.push({ salt: request.tenantSalt, tokens: computed });
    const isKept = request.keepSequence && !script.dropsSequence;
    const sequenceId = this.#nextSequenceId++;
    if (isKept) this.#live.set(sequenceId, all);
    if (sampled.length > 0) this.#sampledSequences.add(sequenceId);
    return {
      finish,
      tokens: Int32Array.from(sampled),
      promptTokens: prompt.length,
      ...reuse,
      reasoningTokens: script.reasoningTokens ?? 0,
      preemptedTokens: 0,
      ...(isKept && { sequence: { workerId: 0, sequenceId, numTokens: all.length } }),
    };
  }
}

function textOf(steps: readonly (readonly OutputEvent[])[]): string {
  return steps
    .flat()
    .map((event) => ("delta" in event ? event.delta : ""))
    .join("");
}
