/** The default model from a hub of our own, which meets the command as the test wants it. */
import { readFileSync } from "node:fs";
import { defaultModel, loadManifest } from "../../src/models/manifest.ts";
import { TestHub, type TestHubOptions } from "../unit/models/test-hub.ts";
import { runCli } from "./cli-process.ts";

export const DEFAULT_MODEL = defaultModel(loadManifest());

/** From the ordinary cache, where it is for good once an ordinary source gave it. */
export async function readDefaultModel(): Promise<Buffer> {
  const { exitCode, stdout, stderr } = await runCli(["models", "pull"]);
  if (exitCode !== 0) throw new Error(`models pull: ${stderr}`);
  return readFileSync(stdout.trim());
}

/** Has the file as the manifest says, if `body` is what `readDefaultModel` gives. */
export function startDefaultModelHub(
  body: Buffer,
  options: Partial<TestHubOptions> = {},
): Promise<TestHub> {
  const source = DEFAULT_MODEL.sources.find((candidate) => candidate.kind === "hf");
  if (source === undefined) throw new Error("the default model has no hub source");
  const { repo, revision: commit, path: file } = source;
  return TestHub.start({ repos: { [repo]: { files: { [file]: body }, commit } }, ...options });
}

/** A copy with one bit of its middle the other way round. */
export function flipOneBit(body: Buffer): Buffer {
  const flipped = Buffer.from(body);
  flipped[flipped.length >> 1]! ^= 1;
  return flipped;
}

/** The command's environment: `modelsDir` is filled from the hub alone. */
export function hubEnv(
  hub: Pick<TestHub, "url">,
  modelsDir: string,
): Readonly<Record<string, string>> {
  return {
    WARMLOOP_MODELS_DIR: modelsDir,
    HF_ENDPOINT: hub.url,
    // The other source of the manifest.
    PIP_NO_INDEX: "1",
    PIP_FIND_LINKS: import.meta.dirname,
  };
}
