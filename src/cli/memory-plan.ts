/**
 * What the server will need, against what this process may use: found before anything is loaded, so
 * that a container's limit gives a sentence and not a killed process.
 */
import { ExitError } from "../base/exit-error.ts";
import { formatMib } from "../base/format.ts";
import type { EngineConfig } from "../config/engine-config.ts";
import type { Config } from "../config/load-config.ts";

const MIB = 2 ** 20;
/** Node, the addon and the buffers of the API, without weights and KV. */
export const PROCESS_BYTES = 160 * MIB;
/** What --kv-memory takes at least. */
const MIN_KV_BYTES = MIB;
const DEFAULT_KV_BYTES = 1024 * MIB;

/** A weight quantized at load takes 8.5 bits at most (q8_0), and 16 or more in the file. */
const MAX_QUANTIZED_SHARE = 8.5 / 16;

/** Upper bound of the memory that a model file's weights take once loaded. */
export function loadedBytes(fileBytes: number, quantize: EngineConfig["quantize"]): number {
  return quantize === "none" ? fileBytes : Math.ceil(fileBytes * MAX_QUANTIZED_SHARE);
}

/**
 * KV bytes of each engine for a model file of this size.
 * @param leastKvBytes what the model's KV cache needs, once that is known
 * @throws {ExitError} modelFile
 */
export function planKvFor(
  { engine, machine }: Config,
  fileBytes: number,
  leastKvBytes = MIN_KV_BYTES,
): number {
  return planKvMemory({
    weightBytes: loadedBytes(fileBytes, engine.quantize),
    kvMemoryBytes: engine.kvMemoryBytes,
    leastKvBytes,
    numEngines: engine.numEngines,
    availableBytes: machine.memoryBytes,
  });
}

export interface MemoryNeeds {
  readonly weightBytes: number;
  /** Of one engine. */
  readonly kvMemoryBytes: number | "auto";
  /** Of one engine: "auto" is never less. */
  readonly leastKvBytes: number;
  readonly numEngines: number;
  readonly availableBytes: number;
}

/**
 * KV bytes of each engine. "auto" is the default or, if that is more, the least that the model needs
 * for its context; and what is left where memory is short.
 * @throws {ExitError} modelFile, with what would fit
 */
export function planKvMemory(needs: MemoryNeeds): number {
  const { weightBytes, kvMemoryBytes, leastKvBytes, numEngines, availableBytes } = needs;
  const leftBytes = availableBytes - PROCESS_BYTES - weightBytes;
  const fittingBytes = Math.floor(leftBytes / numEngines / MIB) * MIB;
  const isAuto = kvMemoryBytes === "auto";
  const wantedBytes = isAuto ? leastKvBytes : kvMemoryBytes;
  if (fittingBytes >= wantedBytes) {
    return isAuto ? Math.min(fittingBytes, Math.max(DEFAULT_KV_BYTES, leastKvBytes)) : wantedBytes;
  }
  const advice =
    fittingBytes >= leastKvBytes
      ? `--kv-memory ${fittingBytes / MIB}MiB would fit`
      : "give it more memory, a smaller model or a smaller --ctx";
  throw new ExitError(
    "modelFile",
    `not enough memory: the weights take ${formatMib(weightBytes)}, the KV cache ` +
      `${formatMib(wantedBytes * numEngines)} and the process ${formatMib(PROCESS_BYTES)}, but ` +
      `this process may use ${formatMib(availableBytes)}; ${advice}`,
  );
}
