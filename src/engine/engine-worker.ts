/**
 * Entry of an engine worker thread: handlers that Piscina calls by name. `attach` opens the engine
 * and comes first; then one `runTurn` a turn. Failures travel as values, because an Error loses its
 * code on the way between threads.
 */
import { type MessagePort, threadId } from "node:worker_threads";
import type { EngineStats, NativeEngine, StepEvents } from "../native/addon-types.ts";
import { engineFailure } from "../native/engine-errors.ts";
import { loadAddon } from "../native/load-addon.ts";
import { openTextModel } from "../text/open-text-model.ts";
import { EngineTurns } from "./engine-turns.ts";
import type {
  AttachResult,
  AttachTask,
  ControlMessage,
  TurnTask,
  TurnUpdate,
} from "./pool-messages.ts";

interface Attached {
  readonly engine: NativeEngine;
  readonly turns: EngineTurns;
  readonly port: MessagePort;
}

/** This thread's engine. */
let attached: Attached | undefined;

export async function attach({ port, options }: AttachTask): Promise<AttachResult> {
  try {
    const addon = loadAddon();
    const textModel = openTextModel(options.modelPath);
    // The engine says nothing before the first request, so `turns` is there when it does.
    const engine = await addon.openEngine(options, (step: StepEvents) => turns.onStep(step));
    const turns = new EngineTurns({
      engine,
      textModel,
      errorCodes: addon.errorCodes,
      workerId: threadId,
      post: (updates) => port.postMessage(updates, resultBuffers(updates)),
    });
    port.on("message", (message: ControlMessage) => turns.control(message));
    attached = { engine, turns, port };
    return { type: "ready", info: engine.info };
  } catch (thrown) {
    return { type: "failed", failure: engineFailure(thrown) };
  }
}

export function runTurn(task: TurnTask): Promise<void> {
  return current().turns.run(task);
}

export function stats(): EngineStats {
  return current().engine.stats();
}

export async function close(): Promise<void> {
  const { turns, port } = current();
  await turns.close();
  port.close();
}

function current(): Attached {
  if (attached === undefined) throw new Error("this worker has no engine yet");
  return attached;
}

/** Token lists of finished turns are moved, not copied. */
function resultBuffers(updates: readonly TurnUpdate[]): ArrayBuffer[] {
  return updates.flatMap(({ outcome }) =>
    outcome?.type === "finished" ? [outcome.result.tokens.buffer as ArrayBuffer] : [],
  );
}
