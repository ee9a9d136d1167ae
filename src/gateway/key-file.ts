/**
 * The key file: one `tenant key [option=value ...]` a line; empty lines and lines that start with `#`
 * are skipped. A key may be given as `sha256:<64 hex digits>` so that the file holds no secret. Problems are
 * reported by line number: no text of the file appears in a message.
 */
import { createHash } from "node:crypto";
import { type ExitError, usageError } from "../base/exit-error.ts";

/** What a key is good for. */
export interface KeyGrant {
  readonly tenant: string;
  /** SHA-256 of the key. */
  readonly digest: Buffer;
  /** undefined: every model. */
  readonly models: ReadonlySet<string> | undefined;
  readonly limits: KeyLimits;
}

/** undefined: no limit. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  /** Prompt tokens that were not in the cache. */
  readonly tokensPerMinute?: number;
  readonly inFlight?: number;
}

const HASHED_KEY = /^sha256:([0-9a-f]{64})$/i;
const TENANT = /^[A-Za-z0-9_.-]{1,64}$/;
const MODELS = /^models=(.+)$/;
const LIMIT = /^(requests-per-minute|tokens-per-minute|in-flight)=([1-9]\d{0,14})$/;
const LIMIT_NAMES: Readonly<Record<string, keyof KeyLimits>> = {
  "requests-per-minute": "requestsPerMinute",
  "tokens-per-minute": "tokensPerMinute",
  "in-flight": "inFlight",
};

/** @throws {ExitError} usage */
export function parseKeyFile(text: string): readonly KeyGrant[] {
  const lineOfKey = new Map<string, number>();
  const grants = text.split(/\r?\n/).flatMap((line, index) => {
    const content = line.trim();
    if (content === "" || content.startsWith("#")) return [];
    const grant = parseLine(content, index + 1);
    const key = grant.digest.toString("hex");
    const earlier = lineOfKey.get(key);
    if (earlier !== undefined) throw lineError(index + 1, `has the key of line ${earlier} again`);
    lineOfKey.set(key, index + 1);
    return [grant];
  });
  if (grants.length === 0) throw usageError("the API key file has no key");
  return grants;
}

export function digestOfKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

function parseLine(content: string, lineNumber: number): KeyGrant {
  const [tenant, key, ...options] = content.split(/\s+/);
  if (tenant === undefined || key === undefined) {
    throw lineError(lineNumber, 'is not "tenant key"');
  }
  if (!TENANT.test(tenant)) {
    throw lineError(lineNumber, "has a tenant that is not 1 to 64 characters of A-Z a-z 0-9 _ . -");
  }
  const hex = HASHED_KEY.exec(key)?.[1];
  const digest = hex === undefined ? digestOfKey(key) : Buffer.from(hex, "hex");
  return { tenant, digest, ...parseOptions(options, lineNumber) };
}

function parseOptions(
  options: readonly string[],
  lineNumber: number,
): Pick<KeyGrant, "models" | "limits"> {
  let models: ReadonlySet<string> | undefined;
  const limits: { -readonly [K in keyof KeyLimits]: KeyLimits[K] } = {};
  for (const option of options) {
    const ids = MODELS.exec(option)?.[1];
    const [, name = "", count] = LIMIT.exec(option) ?? [];
    const limit = LIMIT_NAMES[name];
    if (ids !== undefined) models = new Set(ids.split(","));
    else if (limit !== undefined) limits[limit] = Number(count);
    else throw lineError(lineNumber, `has an option that is none of ${OPTIONS_SHOWN}`);
  }
  return { models, limits };
}

const OPTIONS_SHOWN =
  "models=ID,ID requests-per-minute=N tokens-per-minute=N in-flight=N, N from 1";

function lineError(lineNumber: number, problem: string): ExitError {
  return usageError(`line ${lineNumber} of the API key file ${problem}`);
}
