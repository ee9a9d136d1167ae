/**
 * The key file: one `tenant key` a line; empty lines and lines that start with `#` are skipped. A key may be given as
 * `sha256:<64 hex digits>` so that the file holds no secret. Keys are compared by digest in constant
 * time and appear in no message or log line.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { usageError } from "../base/exit-error.ts";

const HASHED_KEY = /^sha256:([0-9a-f]{64})$/i;
const TENANT = /^[A-Za-z0-9_.-]{1,64}$/;

interface KeyEntry {
  readonly tenant: string;
  readonly digest: Buffer;
}

export class ApiKeys {
  readonly #entries: readonly KeyEntry[];

  private constructor(entries: readonly KeyEntry[]) {
    this.#entries = entries;
  }

  /** @throws {ExitError} with the line's number, never with its text */
  static parse(text: string): ApiKeys {
    const entries = text.split(/\r?\n/).flatMap((line, index) => {
      const content = line.trim();
      const isSkipped = content === "" || content.startsWith("#");
      return isSkipped ? [] : [parseLine(content, index + 1)];
    });
    if (entries.length === 0) throw usageError("the API key file has no key");
    return new ApiKeys(entries);
  }

  /** Tenant of a key. Every entry is compared, so that time says nothing about which one matched. */
  tenantOf(key: string): string | undefined {
    const digest = digestOf(key);
    let tenant: string | undefined;
    for (const entry of this.#entries) {
      if (timingSafeEqual(entry.digest, digest)) tenant = entry.tenant;
    }
    return tenant;
  }
}

function parseLine(content: string, lineNumber: number): KeyEntry {
  const [tenant, key, ...rest] = content.split(/\s+/);
  if (tenant === undefined || key === undefined || rest.length > 0) {
    throw usageError(`line ${lineNumber} of the API key file is not "tenant key"`);
  }
  if (!TENANT.test(tenant)) {
    throw usageError(
      `line ${lineNumber} of the API key file: a tenant is 1 to 64 characters of A-Z a-z 0-9 _ . -`,
    );
  }
  const hex = HASHED_KEY.exec(key)?.[1];
  return { tenant, digest: hex === undefined ? digestOf(key) : Buffer.from(hex, "hex") };
}

function digestOf(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
