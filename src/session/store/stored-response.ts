/**
 * A response as it is kept, in memory and on disk: what the API shows of it, and what a chain goes
 * on from. No token ids: a chain that was not kept live is rendered again from its items.
 */
import type { JsonObject } from "../../base/json-object.ts";
import type { ResponseObject } from "../../protocol/responses-types.ts";
import type { ChainState } from "../lane-state.ts";

/** Records of another version are not read. */
const RECORD_VERSION = 1;

export interface StoredResponse {
  readonly tenant: string;
  readonly response: ResponseObject;
  /** The request's own input as sent, parents excluded; every item has an id. */
  readonly inputItems: readonly JsonObject[];
  /** undefined: nothing can continue from it (it failed). */
  readonly chain: ChainState | undefined;
}

export function encodeStoredResponse(stored: StoredResponse): Buffer {
  return Buffer.from(JSON.stringify({ version: RECORD_VERSION, ...stored }), "utf8");
}

/** undefined: written by another version. */
export function decodeStoredResponse(bytes: Buffer): StoredResponse | undefined {
  const record = JSON.parse(bytes.toString("utf8")) as StoredResponse & { version: number };
  if (record.version !== RECORD_VERSION) return undefined;
  const { tenant, response, inputItems, chain } = record;
  return { tenant, response, inputItems, chain: chain && withDate(chain) };
}

/** JSON has made a text of the head's date. */
function withDate({ head, items }: ChainState): ChainState {
  return { head: { ...head, date: new Date(head.date) }, items };
}
