/**
 * Lanes by what was said on them: a client that sends its whole history (over stateless HTTP, or on a new
 * socket) goes on from the lane that has it. No text is kept, only token ids and live sequences.
 *
 * Whether a lane is found must not change what the model reads. So it has to be spelled as the
 * tokenizer spells it: a model can write a word in other tokens than those.
 */
import { LRUCache } from "lru-cache";
import type { ContextItem } from "../protocol/responses-types.ts";
import { headKey, keyWith, prefixKeys } from "./content-key.ts";
import type { LaneState, PromptHead } from "./lane-state.ts";

const MAX_LANES = 256;
const MAX_TOKENS = 4 * 1024 * 1024;

type IndexedLane = Omit<LaneState, "items"> & { readonly numItems: number };

/** What is known of a lane that others go on from. */
interface Identity {
  readonly head: string;
  readonly key: string;
  readonly isSpelledByTokenizer: boolean;
}

export type IsSpelledByTokenizer = (lane: LaneState) => boolean;

export class LaneIndex {
  readonly #isOutputSpelled: IsSpelledByTokenizer;
  readonly #identities = new WeakMap<LaneState, Identity>();
  /** Lanes under each head: most requests have one that nobody had before. */
  readonly #numByHead = new Map<string, number>();
  readonly #lanes: LRUCache<string, { readonly head: string; readonly lane: IndexedLane }>;

  /** @param isOutputSpelled of a lane's last output */
  constructor(isOutputSpelled: IsSpelledByTokenizer) {
    this.#isOutputSpelled = isOutputSpelled;
    this.#lanes = new LRUCache({
      max: MAX_LANES,
      maxSize: MAX_TOKENS,
      sizeCalculation: ({ lane }) => Math.max(1, lane.tokens.length),
      dispose: ({ head, lane }) => {
        this.#count(head, -1);
        lane.sequence.release();
      },
    });
  }

  /** The longest lane that the items begin with; its items are those given. */
  find(tenant: string, head: PromptHead, items: readonly ContextItem[]): LaneState | undefined {
    const ofHead = headKey(tenant, head);
    if (!this.#numByHead.has(ofHead)) return undefined;
    const keys = prefixKeys(ofHead, items);
    const numItems = keys.findLastIndex((key) => this.#lanes.has(key));
    const key = keys[numItems];
    const found = key === undefined ? undefined : this.#lanes.get(key);
    if (key === undefined || found === undefined) return undefined;
    const { numItems: _, ...rest } = found.lane;
    const lane = { ...rest, items: items.slice(0, numItems) };
    this.#identities.set(lane, { head: ofHead, key, isSpelledByTokenizer: true });
    return lane;
  }

  /** @param parent whose tokens the lane has kept */
  put(lane: LaneState, parent: LaneState | undefined): void {
    if (lane.generation === "cut" || lane.tokens.length === 0) return;
    const known = parent && this.#identities.get(parent);
    const identity = known && parent ? this.#extended(known, parent, lane) : this.#whole(lane);
    this.#identities.set(lane, identity);
    if (!identity.isSpelledByTokenizer) return;
    const { items, ...rest } = lane;
    lane.sequence.hold();
    this.#count(identity.head, 1);
    this.#lanes.set(identity.key, {
      head: identity.head,
      lane: { ...rest, numItems: items.length },
    });
  }

  clear(): void {
    this.#lanes.clear();
  }

  #extended({ head, key, isSpelledByTokenizer }: Identity, parent: LaneState, lane: LaneState) {
    const isExtended = parent.items.every((item, index) => item === lane.items[index]);
    if (!isExtended) return { ...this.#whole(lane), isSpelledByTokenizer: false };
    const added = lane.items.slice(parent.items.length);
    return {
      head,
      key: added.reduce(keyWith, key),
      isSpelledByTokenizer: isSpelledByTokenizer && this.#isOutputSpelled(lane),
    };
  }

  #whole(lane: LaneState): Identity {
    const head = headKey(lane.tenant, lane.head);
    const key = prefixKeys(head, lane.items).at(-1) ?? head;
    return { head, key, isSpelledByTokenizer: this.#isOutputSpelled(lane) };
  }

  #count(head: string, change: 1 | -1): void {
    const count = (this.#numByHead.get(head) ?? 0) + change;
    if (count === 0) this.#numByHead.delete(head);
    else this.#numByHead.set(head, count);
  }
}
