/**
 * The API keys that are valid now. Keys are compared by digest in constant time and appear in no
 * message or log line.
 */
import { timingSafeEqual } from "node:crypto";
import { type Clock, systemClock } from "../base/clock.ts";
import { Caller } from "./caller.ts";
import { digestOfKey, type KeyGrant, parseKeyFile } from "./key-file.ts";

interface Entry {
  readonly digest: Buffer;
  readonly caller: Caller;
}

export class ApiKeys {
  readonly #clock: Clock;
  #entries: readonly Entry[] = [];

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws {ExitError} usage: see `parseKeyFile` */
  static parse(text: string, clock: Clock = systemClock): ApiKeys {
    const keys = new ApiKeys(clock);
    keys.reload(text);
    return keys;
  }

  /**
   * Takes over a new text of the key file: keys that are gone are revoked, the others keep their
   * callers. @throws {ExitError} usage, and nothing changed
   */
  reload(text: string): void {
    const former = this.#entries;
    this.#entries = parseKeyFile(text).map((grant) => this.#entryOf(grant, former));
    const kept = new Set(this.#entries.map(({ caller }) => caller));
    for (const { caller } of former) {
      if (!kept.has(caller)) caller.revoke();
    }
  }

  /** Every entry is compared, so that time says nothing about which one matched. */
  callerOf(key: string): Caller | undefined {
    const digest = digestOfKey(key);
    let found: Caller | undefined;
    for (const { digest: candidate, caller } of this.#entries) {
      if (timingSafeEqual(candidate, digest)) found = caller;
    }
    return found;
  }

  /** A key that went to another tenant is a new caller: what its sockets hold is the old tenant's. */
  #entryOf(grant: KeyGrant, former: readonly Entry[]): Entry {
    const { digest, tenant } = grant;
    const known = former.find((entry) => entry.digest.equals(digest))?.caller;
    if (known === undefined || known.tenant !== tenant) {
      return { digest, caller: new Caller(grant, this.#clock) };
    }
    known.update(grant);
    return { digest, caller: known };
  }
}
