import type { OutputItem, ResponseObject } from "../../../../src/protocol/responses-types.ts";
import { sentItems } from "../../../../src/protocol/sent-items.ts";
import { responseObject } from "../../../../src/session/response-object.ts";
import {
  DEFAULT_STORE_LIMITS,
  ResponseStore,
  type StoreLimits,
} from "../../../../src/session/store/response-store.ts";
import type { StoredResponse } from "../../../../src/session/store/stored-response.ts";
import { FakeClock } from "../fake-clock.ts";
import { makeRequest, userMessage } from "../session-fixture.ts";

/** A store without an archive. */
export function createMemoryStore(
  limits: Partial<StoreLimits> = {},
  clock = new FakeClock(),
): ResponseStore {
  return new ResponseStore({
    clock,
    limits: { ...DEFAULT_STORE_LIMITS, ...limits },
    archive: undefined,
    reportError: (error) => {
      throw error;
    },
  });
}

export interface StoredOptions {
  readonly id?: string;
  readonly tenant?: string;
  readonly text?: string;
  readonly createdAt?: number;
  readonly output?: readonly OutputItem[];
  readonly status?: ResponseObject["status"];
}

/** A finished response with one user message as its input. */
export function makeStored(options: StoredOptions = {}): StoredResponse {
  const { id = "resp_1", tenant = "a", text = "hello", createdAt = 1_700_000_000 } = options;
  const { output = [], status = "completed" } = options;
  const request = makeRequest({ store: true });
  const identity = {
    id,
    createdAt,
    model: "fake-model",
    transport: "http",
    request,
    isEchoing: true,
  } as const;
  const itemId = `msg_of_${id}`;
  return {
    tenant,
    response: responseObject(identity, { status, output }),
    inputItems: sentItems([{ type: "message", id: itemId, role: "user", content: text }]),
    chain: {
      head: { instructions: null, tools: [], date: new Date(0), reasoningEffort: undefined },
      items: [{ ...userMessage(text), id: itemId }],
    },
  };
}
