/** Options of a download into an empty folder, with the progress lines kept. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { FetchOptions } from "../../../src/models/fetch-model.ts";

export interface TestFetchOptions extends FetchOptions {
  readonly lines: readonly string[];
  /** `begin` and the last `advance` of each bar: what, total bytes, bytes in the end. */
  readonly bars: readonly { what: string; totalBytes: number; doneBytes: number }[];
}

export function makeFetchOptions(hubUrl: string, hubToken?: string): TestFetchOptions {
  const lines: string[] = [];
  const bars: { what: string; totalBytes: number; doneBytes: number }[] = [];
  return {
    modelsDir: mkdtempSync(path.join(tmpdir(), "warmloop-models-")),
    hubUrl,
    hubToken,
    acceptedLicenses: [],
    progress: {
      note: (line) => lines.push(line),
      begin: (what, totalBytes, doneBytes) => bars.push({ what, totalBytes, doneBytes }),
      advance: (doneBytes) => {
        const bar = bars.at(-1);
        if (bar !== undefined) bar.doneBytes = doneBytes;
      },
      end: () => undefined,
    },
    wait: async () => undefined,
    lines,
    bars,
  };
}
