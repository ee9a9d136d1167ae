/**
 * One prompt on the engine: on the parent's live sequence with the new tokens only, else as the
 * full list, which still finds the blocks that are cached. Either way the same tokens come out.
 */
import type { OutputFlow } from "../base/output-flow.ts";
import {
  type EngineEndpoint,
  EngineError,
  type TurnEvent,
  type TurnRequest,
  type TurnResult,
} from "../engine/endpoint.ts";
import type { JoinedSequence, LiveSequence, SequenceUse } from "./live-sequence.ts";
import type { Prompt } from "./prompt-builder.ts";

export type TurnOptions = Omit<TurnRequest, "tokens" | "continueFrom" | "fork" | "laneWorkerId">;

export interface ParentSequence {
  readonly sequence: LiveSequence;
  readonly use: SequenceUse;
}

export interface EngineRun {
  readonly result: TurnResult;
  /** The parent's sequence had been given up: the full list was submitted. */
  readonly wasReleased: boolean;
}

/** @throws {EngineError} any code but ERR_SEQUENCE_RELEASED */
export async function runOnEngine(
  endpoint: EngineEndpoint,
  prompt: Prompt,
  options: TurnOptions,
  parent: ParentSequence | undefined,
  onEvent: (event: TurnEvent) => void,
  signal: AbortSignal,
  flow?: OutputFlow,
): Promise<EngineRun> {
  const live = parent && (await usableSequence(endpoint, prompt, parent));
  if (live) {
    const { ref: continueFrom, isFork: fork } = live;
    const tokens = prompt.tokens.toArray(continueFrom.numTokens);
    const request: TurnRequest = { ...options, tokens, continueFrom, fork };
    try {
      return { result: await endpoint.runTurn(request, onEvent, signal, flow), wasReleased: false };
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "ERR_SEQUENCE_RELEASED") throw error;
    } finally {
      if (live.isSpent) endpoint.release(continueFrom);
    }
  }
  const laneWorkerId = parent?.sequence.workerId;
  const request: TurnRequest = {
    ...options,
    tokens: prompt.tokens.toArray(),
    ...(laneWorkerId !== undefined && { laneWorkerId }),
  };
  const result = await endpoint.runTurn(request, onEvent, signal, flow);
  return { result, wasReleased: live !== undefined };
}

interface UsableSequence extends JoinedSequence {
  /** Taken over for a branch of it: nobody will go on from the rest. */
  readonly isSpent: boolean;
}

/**
 * The sequence if the prompt goes on behind its tokens, or behind all but the end of them: an end token
 * of the model's own, which the template writes otherwise.
 */
async function usableSequence(
  endpoint: EngineEndpoint,
  prompt: Prompt,
  { sequence, use }: ParentSequence,
): Promise<UsableSequence | undefined> {
  const live = await sequence.join(use);
  if (!live) return undefined;
  const { ref, isFork } = live;
  const numTokens = prompt.numKeptTokens;
  if (numTokens > 0 && numTokens <= ref.numTokens && numTokens < prompt.tokens.length) {
    const isCut = numTokens < ref.numTokens;
    return { ref: { ...ref, numTokens }, isFork: isFork || isCut, isSpent: isCut && !isFork };
  }
  if (!isFork) endpoint.release(ref);
  return undefined;
}
