/** Makes sure that what the user named lies on this machine, whole and verified. */
import { fetchHubModel } from "./fetch-hub-model.ts";
import { fetchManifestModel } from "./fetch-manifest-model.ts";
import type { Progress } from "./progress.ts";
import type { ResolvedModel } from "./resolve-model.ts";

export interface FetchOptions {
  readonly modelsDir: string;
  readonly hubUrl: string;
  readonly hubToken: string | undefined;
  /** Model ids, licence names or `ACCEPT_ANY`. */
  readonly acceptedLicenses: readonly string[];
  readonly progress: Progress;
  /** Before another attempt. */
  readonly wait: (ms: number) => Promise<void>;
  /** Asks the person at the terminal, where there is one. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Ask the hub whether a branch has moved, even when the cache has the model. */
  readonly refresh?: boolean;
}

/**
 * Path for the engine.
 * @throws {DownloadError}
 */
export async function fetchModel(model: ResolvedModel, options: FetchOptions): Promise<string> {
  switch (model.kind) {
    case "local":
      return model.path;
    case "manifest":
      return fetchManifestModel(model.model, options);
    case "hub":
      return fetchHubModel(model.reference, options);
  }
}
