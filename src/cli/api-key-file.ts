/** The file of --api-keys: read at start, and again at every SIGHUP. */
import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import { usageError } from "../base/exit-error.ts";
import { ApiKeys } from "../gateway/api-keys.ts";

/** @throws {ExitError} usage */
export function openApiKeys(file: string): ApiKeys {
  try {
    return ApiKeys.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw usageError(`--api-keys ${file}: ${(error as Error).message}`);
  }
}

/** A file that cannot be read or parsed leaves the keys as they are. */
export function reloadOnHangup(apiKeys: ApiKeys, file: string, logger: Logger): void {
  process.on("SIGHUP", () => {
    try {
      apiKeys.reload(readFileSync(file, "utf8"));
      logger.info({ file }, "the API keys were read again");
    } catch (error) {
      const reason = (error as Error).message;
      logger.error({ file, reason }, "the API keys were not read again; the old ones stay");
    }
  });
}
