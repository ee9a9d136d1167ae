/**
 * What crosses between the pool on the main thread and an engine worker. Plain data only.
 * Turns arrive as Piscina tasks. Everything a worker says about its turns travels on one port of its
 * own, one message for a step. The port and Piscina's own are not ordered with each other, so control
 * messages name the turn that must have arrived before them.
 */
import type { MessagePort } from "node:worker_threads";
import type { EngineInfo, EngineOptions } from "../native/addon-types.ts";
import type { EngineFailure } from "../native/engine-errors.ts";
import type { OutputEvent } from "../text/text-types.ts";
import type { TurnRequest, TurnResult } from "./endpoint.ts";

export interface AttachTask {
  readonly port: MessagePort;
  readonly options: EngineOptions;
}

export type AttachResult =
  | { readonly type: "ready"; readonly info: EngineInfo }
  | { readonly type: "failed"; readonly failure: EngineFailure };

/** Ids rise in the order in which turns are given to workers. */
export interface TurnTask {
  readonly turnId: number;
  readonly request: TurnRequest;
}

export type ControlMessage = { readonly afterTurnId: number } & (
  | { readonly type: "cancel" | "pause" | "resume" }
  | { readonly type: "release"; readonly sequenceId: number }
);

/** News of one turn. The outcome is its last. */
export interface TurnUpdate {
  readonly turnId: number;
  readonly isQueued?: true;
  readonly admitted?: {
    readonly promptTokens: number;
    readonly cachedTokens: number;
    readonly liveHit: boolean;
  };
  readonly events?: readonly OutputEvent[];
  readonly outcome?: TurnOutcome;
}

export type TurnOutcome =
  | { readonly type: "finished"; readonly result: TurnResult }
  | { readonly type: "failed"; readonly failure: EngineFailure };
