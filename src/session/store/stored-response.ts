/**
 * A response as it is kept, in memory and on disk: what the API shows of it, and what a chain goes
 * on from. No token ids: a chain that was not kept live is rendered again from its items.
 */
import type { ResponseObject } from "../../protocol/responses-types.ts";
import type { SentItems } from "../../protocol/sent-items.ts";
import type { ChainState } from "../lane-state.ts";

/** Records of another version are not read. */
const RECORD_VERSION = 2;

export interface ShownResponse {
  readonly tenant: string;
  readonly response: ResponseObject;
  /** The request's own input as sent, parents excluded. */
  readonly inputItems: SentItems;
}

export interface StoredResponse extends ShownResponse {
  /** undefined: nothing can continue from it (it failed). */
  readonly chain: ChainState | undefined;
}

/** Its parts on disk, read when they are needed. */
export interface ResponseRecord {
  readonly head: Buffer;
  readonly input: Buffer;
  /** Empty: none. */
  readonly chain: Buffer;
}

export function encodeStoredResponse({
  inputItems,
  chain,
  ...stored
}: StoredResponse): ResponseRecord {
  const { json, ...places } = inputItems;
  const head = { version: RECORD_VERSION, ...stored, ...places };
  return {
    head: Buffer.from(JSON.stringify(head)),
    input: Buffer.from(json.buffer, json.byteOffset, json.byteLength),
    chain: Buffer.from(chain === undefined ? "" : JSON.stringify(chain)),
  };
}

/** undefined: written by another version. */
export function decodeShownResponse({
  head,
  input,
}: Pick<ResponseRecord, "head" | "input">): ShownResponse | undefined {
  const record = JSON.parse(head.toString("utf8"));
  if (record.version !== RECORD_VERSION) return undefined;
  const { tenant, response, ends, ids } = record;
  return { tenant, response, inputItems: { json: input, ends, ids } };
}

export function decodeChain(bytes: Buffer): ChainState | undefined {
  if (bytes.byteLength === 0) return undefined;
  const { head, items } = JSON.parse(bytes.toString("utf8")) as ChainState;
  return { head: { ...head, date: new Date(head.date) }, items }; // JSON has made a text of it
}
