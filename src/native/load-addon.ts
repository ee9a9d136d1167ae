/**
 * Loads the native addon; nothing else does. The build puts it at the same place for sources and for
 * compiled code, and Node keeps one copy of it in the process however many threads load it.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { ExitError } from "../base/exit-error.ts";
import type { NativeAddon } from "./addon-types.ts";

/** `src/native` and `dist/native` are both two folders below the package's root. */
const ADDON_PATH = path.join(import.meta.dirname, "../../native/build/Release/warmloop.node");

/** @throws {ExitError} "build", with what to do about it */
export function loadAddon(): NativeAddon {
  if (!existsSync(ADDON_PATH)) {
    throw new ExitError(
      "build",
      `the native addon is not built (${ADDON_PATH} is missing): run "node native/build.mjs", which needs CMake and a C++20 compiler`,
    );
  }
  try {
    return createRequire(import.meta.url)(ADDON_PATH) as NativeAddon;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ExitError(
      "build",
      `the native addon does not load (${reason}): delete native/build and run "node native/build.mjs"`,
      { cause },
    );
  }
}
