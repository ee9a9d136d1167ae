/** Entry of the thread that reads and writes large responses. */
import { workerData } from "piscina";
import { systemClock } from "../../base/clock.ts";
import type { ChainState } from "../lane-state.ts";
import { LmdbArchive } from "./lmdb-archive.ts";
import type { ArchiveLimits } from "./response-archive.ts";
import type { StoredResponse } from "./stored-response.ts";

export interface ArchiveWorkerData {
  /** Of a store that the main thread has open. */
  readonly folder: string;
  readonly limits: ArchiveLimits;
}

const { folder, limits } = workerData as ArchiveWorkerData;
const archive = new LmdbArchive(folder, limits, () => systemClock.unixSeconds());

export function put(stored: StoredResponse): Promise<void> {
  return archive.put(stored);
}

export function chain([tenant, id]: readonly [string, string]): Promise<ChainState | undefined> {
  return archive.chain(tenant, id);
}

export function close(): Promise<void> {
  return archive.close();
}
