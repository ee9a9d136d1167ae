/**
 * Terms that a user has to accept before a model is downloaded: asked for once, then remembered beside
 * the file.
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { ACCEPT_ANY } from "../base/accept-any.ts";
import { DownloadError } from "./download-error.ts";
import type { ManifestModel } from "./manifest.ts";

export interface LicenseAnswers {
  /** Model ids, licence names or `ACCEPT_ANY`. */
  readonly acceptedLicenses: readonly string[];
  /** Asks the person at the terminal, where there is one. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Shows one line. */
  readonly note: (line: string) => void;
}

/** @throws {DownloadError} ERR_LICENSE_NOT_ACCEPTED, with the command that accepts */
export async function ensureLicenseAccepted(
  { id, license }: ManifestModel,
  folder: string,
  answers: LicenseAnswers,
): Promise<void> {
  if (!license.accept) return;
  const record = path.join(folder, "license-accepted.json");
  if (existsSync(record)) return;
  const terms = `${id} comes under the terms "${license.name}", ${license.url}`;
  const isAccepted = [ACCEPT_ANY, id, license.name].some((name) => {
    return answers.acceptedLicenses.includes(name);
  });
  if (isAccepted) answers.note(`${terms}: accepted`);
  else if (!(await answers.confirm?.(`${terms}. Do you accept them?`))) {
    throw new DownloadError(
      "ERR_LICENSE_NOT_ACCEPTED",
      `${terms}: read them, then run \`npm run warmloop -- models pull ${id} --accept-license\``,
    );
  }
  await mkdir(folder, { recursive: true });
  const accepted = { license: license.name, url: license.url, time: new Date().toISOString() };
  await writeFile(record, `${JSON.stringify(accepted, null, 2)}\n`);
}
