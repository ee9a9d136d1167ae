/**
 * Lanes by what was said on them: a client that sends its whole history (over stateless HTTP, or on a new
 * socket) goes on from the lane that has it. No text is kept, only token ids and live sequences.
 *
 * Whether a lane is found must not change what the model reads. So it has to be spelled as the
 * tokenizer spells it: a model can write a word in other tokens than those.
 */
import { LRUCache } from "lru-cache";
import type { ContextItem } from "../protocol/responses-types.ts";
import { HeadKeys, type Prefix, prefixesOf, prefixWith } from "./content-key.ts";
import { isExtension } from "./context-items.ts";
import type { LaneState, PromptHead } from "./lane-state.ts";

const MAX_LANES = 256;
const MAX_TOKENS = 4 * 1024 * 1024;

type IndexedLane = Omit<LaneState, "items"> & { readonly numItems: number };

/** What is known of a lane that others go on from. */
interface Identity extends Prefix {
  readonly head: string;
  readonly isSpelledByTokenizer: boolean;
}

/** Lanes with one head. */
interface HeadLanes {
  readonly count: number;
  /** Of the longest that there was: no longer history has to be read to find one. */
  readonly maxChars: number;
}

export type IsSpelledByTokenizer = (lane: LaneState) => boolean;

export class LaneIndex {
  readonly #isOutputSpelled: IsSpelledByTokenizer;
  readonly #headKeys = new HeadKeys();
  readonly #identities = new WeakMap<LaneState, Identity>();
  /** Most requests have a head that nobody had before. */
  readonly #byHead = new Map<string, HeadLanes>();
  readonly #lanes: LRUCache<string, { readonly head: string; readonly lane: IndexedLane }>;

  /** @param isOutputSpelled of a lane's last output */
  constructor(isOutputSpelled: IsSpelledByTokenizer) {
    this.#isOutputSpelled = isOutputSpelled;
    this.#lanes = new LRUCache({
      max: MAX_LANES,
      maxSize: MAX_TOKENS,
      sizeCalculation: ({ lane }) => Math.max(1, lane.tokens.length),
      dispose: ({ head, lane }) => {
        this.#leave(head);
        lane.sequence.release();
      },
    });
  }

  /** The longest lane that the items begin with; its items are those given. */
  find(tenant: string, head: PromptHead, items: readonly ContextItem[]): LaneState | undefined {
    const ofHead = this.#headKeys.keyOf(tenant, head);
    const lanes = this.#byHead.get(ofHead);
    if (lanes === undefined) return undefined;
    const prefixes = prefixesOf(ofHead, items, lanes.maxChars);
    const numItems = prefixes.findLastIndex(({ key }) => this.#lanes.has(key));
    const prefix = prefixes[numItems];
    const found = prefix && this.#lanes.get(prefix.key);
    if (prefix === undefined || found === undefined) return undefined;
    const { numItems: _, ...rest } = found.lane;
    const lane = { ...rest, items: items.slice(0, numItems) };
    this.#identities.set(lane, { ...prefix, head: ofHead, isSpelledByTokenizer: true });
    return lane;
  }

  /** @param parent whose tokens the lane has kept */
  put(lane: LaneState, parent: LaneState | undefined): void {
    const { length } = lane.tokens;
    if (lane.generation === "cut" || length === 0 || length > MAX_TOKENS) return;
    const known = parent && this.#identities.get(parent);
    const identity = known && parent ? this.#extended(known, parent, lane) : this.#whole(lane);
    this.#identities.set(lane, identity);
    if (!identity.isSpelledByTokenizer) return;
    const { items, ...rest } = lane;
    lane.sequence.hold();
    this.#enter(identity);
    this.#lanes.set(identity.key, {
      head: identity.head,
      lane: { ...rest, numItems: items.length },
    });
  }

  clear(): void {
    this.#lanes.clear();
  }

  #extended(known: Identity, parent: LaneState, lane: LaneState): Identity {
    if (!isExtension(lane.items, parent.items)) {
      return { ...this.#whole(lane), isSpelledByTokenizer: false };
    }
    const prefix = lane.items.slice(parent.items.length).reduce<Prefix>(prefixWith, known);
    const isSpelledByTokenizer = known.isSpelledByTokenizer && this.#isOutputSpelled(lane);
    return { ...prefix, head: known.head, isSpelledByTokenizer };
  }

  #whole(lane: LaneState): Identity {
    const head = this.#headKeys.keyOf(lane.tenant, lane.head);
    const prefix = lane.items.reduce(prefixWith, { key: head, chars: 0 });
    return { ...prefix, head, isSpelledByTokenizer: this.#isOutputSpelled(lane) };
  }

  #enter({ head, chars }: Identity): void {
    const { count = 0, maxChars = 0 } = this.#byHead.get(head) ?? {};
    this.#byHead.set(head, { count: count + 1, maxChars: Math.max(maxChars, chars) });
  }

  #leave(head: string): void {
    const { count = 1, maxChars = 0 } = this.#byHead.get(head) ?? {};
    if (count === 1) this.#byHead.delete(head);
    else this.#byHead.set(head, { count: count - 1, maxChars });
  }
}
