/** The folder of stored responses and of the key for what clients keep, as the options have it. */
import type { Logger } from "pino";
import { systemClock } from "../base/clock.ts";
import { usageError } from "../base/exit-error.ts";
import type { Config } from "../config/load-config.ts";
import { LmdbArchive } from "../session/store/lmdb-archive.ts";
import type { ResponseArchive } from "../session/store/response-archive.ts";
import { DEFAULT_STORE_LIMITS, type StoreLimits } from "../session/store/response-store.ts";
import { openSealingKey } from "../session/store/sealing-key.ts";
import { StoreFolderError } from "../session/store/store-folder.ts";
import { ThreadedArchive } from "../session/store/threaded-archive.ts";

export interface OpenStore {
  readonly archive: ResponseArchive;
  readonly sealingKey: Buffer;
}

/**
 * undefined: stored responses are kept in memory only.
 * @throws {ExitError} usage: the folder that was asked for is no store and cannot become one
 */
export function openStore(config: Config, logger: Logger): OpenStore | undefined {
  const { folder, isDefaultFolder } = config.store;
  if (folder === undefined) return undefined;
  try {
    const limits = storeLimits(config);
    const archive = LmdbArchive.open(folder, limits, () => systemClock.unixSeconds());
    return {
      archive: new ThreadedArchive(archive, { folder, limits }),
      sealingKey: openSealingKey(folder),
    };
  } catch (error) {
    if (!(error instanceof StoreFolderError)) throw error;
    const problem = `--store-dir ${folder}: ${error.message}`;
    if (!isDefaultFolder) throw usageError(`${problem}; name another folder, or none`);
    logger.warn(`${problem}; stored responses are kept in memory only`);
    return undefined;
  }
}

export function storeLimits({ store }: Config): StoreLimits {
  const { maxResponses, maxBytes, ttlHours } = store;
  return { ...DEFAULT_STORE_LIMITS, maxResponses, maxBytes, ttlSeconds: ttlHours * 3600 };
}
