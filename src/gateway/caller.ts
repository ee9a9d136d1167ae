/**
 * One API key at work: its tenant, the models it may use and what is left of its budgets. It outlives a
 * reload of the key file, so that a reload refills nothing and open sockets notice what changed. Without
 * keys there is one caller, who may do everything.
 */
import type { Clock } from "../base/clock.ts";
import { rateLimited } from "../protocol/engine-error-map.ts";
import type { KeyGrant } from "./key-file.ts";
import { TokenBucket } from "./token-bucket.ts";

export type Grant = Omit<KeyGrant, "digest">;

/** A request is over in a second or more; nothing says which one ends first. */
const IN_FLIGHT_RETRY_SECONDS = 1;

export class Caller {
  readonly tenant: string;
  readonly #clock: Clock;
  readonly #onRevoked = new Set<() => void>();
  #grant: Grant;
  #requests: TokenBucket | undefined;
  #tokens: TokenBucket | undefined;
  #numInFlight = 0;
  #isRevoked = false;

  constructor(grant: Grant, clock: Clock) {
    this.tenant = grant.tenant;
    this.#clock = clock;
    this.#grant = grant;
    this.#fitBuckets();
  }

  /** The key is no longer in the key file. */
  get isRevoked(): boolean {
    return this.#isRevoked;
  }

  /** Calls back when the key is revoked; the function that is returned forgets the listener. */
  onRevoked(listener: () => void): () => void {
    this.#onRevoked.add(listener);
    return () => this.#onRevoked.delete(listener);
  }

  /** The same key after a reload; budgets that did not change keep their level. */
  update(grant: Grant): void {
    this.#grant = grant;
    this.#fitBuckets();
  }

  revoke(): void {
    this.#isRevoked = true;
    for (const listener of this.#onRevoked) listener();
  }

  mayUse(modelId: string): boolean {
    return this.#grant.models?.has(modelId) ?? true;
  }

  /**
   * Takes a request out of the budgets; the function that is returned says that it has ended.
   * @throws {ApiError} 429 with the time after which it is worth trying again
   */
  admit(): () => void {
    const nowMs = this.#clock.nowMs();
    const { inFlight = Number.POSITIVE_INFINITY } = this.#grant.limits;
    if (this.#numInFlight >= inFlight) {
      const message = `This key has its ${inFlight} requests in flight`;
      throw rateLimited(message, IN_FLIGHT_RETRY_SECONDS);
    }
    refuseEmpty(this.#requests, "requests", nowMs);
    refuseEmpty(this.#tokens, "uncached prompt tokens", nowMs);
    this.#requests?.take(1, nowMs);
    return this.holdPlace();
  }

  /** A place in flight for what outlives the request that was admitted. Returned as `admit` does. */
  holdPlace(): () => void {
    this.#numInFlight++;
    let isOpen = true;
    return () => {
      if (isOpen) this.#numInFlight--;
      isOpen = false;
    };
  }

  /** Prompt tokens that the engine has to compute; known when it takes the request, so it may overdraw. */
  chargeTokens(numTokens: number): void {
    this.#tokens?.take(numTokens, this.#clock.nowMs());
  }

  /** The `x-ratelimit-` headers of the limits that the key has. */
  limitHeaders(): Readonly<Record<string, string>> {
    const nowMs = this.#clock.nowMs();
    return {
      ...headersOf("requests", this.#requests, nowMs),
      ...headersOf("tokens", this.#tokens, nowMs),
    };
  }

  #fitBuckets(): void {
    const { requestsPerMinute, tokensPerMinute } = this.#grant.limits;
    const nowMs = this.#clock.nowMs();
    this.#requests = fitted(this.#requests, requestsPerMinute, nowMs);
    this.#tokens = fitted(this.#tokens, tokensPerMinute, nowMs);
  }
}

function fitted(
  bucket: TokenBucket | undefined,
  perMinute: number | undefined,
  nowMs: number,
): TokenBucket | undefined {
  if (bucket?.perMinute === perMinute) return bucket;
  return perMinute === undefined ? undefined : new TokenBucket(perMinute, nowMs);
}

function refuseEmpty(bucket: TokenBucket | undefined, unit: string, nowMs: number): void {
  const waitMs = bucket?.waitMs(nowMs) ?? 0;
  if (bucket === undefined || waitMs === 0) return;
  const message = `This key has used up its ${bucket.perMinute} ${unit} a minute`;
  throw rateLimited(message, Math.ceil(waitMs / 1000));
}

function headersOf(
  unit: string,
  bucket: TokenBucket | undefined,
  nowMs: number,
): Record<string, string> {
  if (bucket === undefined) return {};
  return {
    [`x-ratelimit-limit-${unit}`]: String(bucket.perMinute),
    [`x-ratelimit-remaining-${unit}`]: String(bucket.remaining(nowMs)),
    [`x-ratelimit-reset-${unit}`]: `${Math.ceil(bucket.resetMs(nowMs) / 1000)}s`,
  };
}
