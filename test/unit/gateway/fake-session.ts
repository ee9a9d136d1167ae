/** A session that needs no model: it answers with given words, and can be held and looked into. */
import { invalidRequest } from "../../../src/protocol/api-error.ts";
import type {
  OutputItem,
  ResponseEvent,
  ResponseEventBody,
  ResponseObject,
  ResponsesRequest,
  TokenLogprob,
} from "../../../src/protocol/responses-types.ts";
import { ActiveResponses } from "../../../src/session/active-responses.ts";
import { ResponseDirectory } from "../../../src/session/response-directory.ts";
import type {
  CompactedConversation,
  CompletionTurn,
  ConnectionState,
  RunResponse,
  SessionService,
  TurnContext,
} from "../../../src/session/session-types.ts";
import { createMemoryStore } from "../session/store/make-stored.ts";

export interface FakeTurn {
  readonly request: ResponsesRequest;
  /** Of a completion. */
  readonly completion?: CompletionTurn;
  readonly context: TurnContext;
  readonly signal: AbortSignal;
  readonly response: ResponseObject;
  /** Adds the sequence number. */
  emit(event: ResponseEventBody): void;
}

export type Script = (turn: FakeTurn) => Promise<ResponseObject> | ResponseObject;

export class FakeSession implements SessionService {
  readonly modelId = "fake-model";
  readonly contextTokens = 4096;
  /** Knows no response. */
  readonly responses = new ResponseDirectory(createMemoryStore(), new ActiveResponses());
  readonly turns: FakeTurn[] = [];
  numOpenConnections = 0;
  script: Script = (turn) => say(turn, ["Hello", " there"]);

  openConnection(): ConnectionState {
    this.numOpenConnections++;
    return {
      close: () => {
        this.numOpenConnections--;
      },
    };
  }

  createResponse(
    request: ResponsesRequest,
    ...where: Parameters<RunResponse>
  ): Promise<ResponseObject> {
    return this.#run({ request }, ...where);
  }

  async compact(
    request: ResponsesRequest,
    ...where: Parameters<RunResponse>
  ): Promise<CompactedConversation> {
    return { response: await this.#run({ request }, ...where), kept: [] };
  }

  async countInputTokens({ input }: ResponsesRequest): Promise<number> {
    return input.length;
  }

  async prepareCompletion(completion: CompletionTurn): Promise<readonly RunResponse[]> {
    const { prompt, seeds } = completion;
    if ("text" in prompt && prompt.text === "") {
      throw invalidRequest("invalid_value", "no tokens", prompt.path);
    }
    return seeds.map((seed): RunResponse => {
      const request = { ...completion.request, seed };
      return (...where) => this.#run({ request, completion }, ...where);
    });
  }

  async #run(
    asked: Pick<FakeTurn, "request" | "completion">,
    context: TurnContext,
    emit: (event: ResponseEvent) => void,
    signal: AbortSignal,
  ): Promise<ResponseObject> {
    const { request } = asked;
    let sequenceNumber = 0;
    const turn: FakeTurn = {
      ...asked,
      context,
      signal,
      response: responseObject(`resp_${this.turns.length}`, request),
      emit: (event) => emit({ ...event, sequence_number: sequenceNumber++ }),
    };
    this.turns.push(turn);
    return this.script(turn);
  }

  async close(): Promise<void> {
    return undefined;
  }
}

/** A whole text response with a log probability for each delta. */
export function sayScored(turn: FakeTurn, deltas: readonly string[]): ResponseObject {
  begin(turn);
  const logprobs = deltas.map(
    (token): TokenLogprob => ({
      token,
      bytes: [...Buffer.from(token)],
      logprob: -1,
      top_logprobs: [],
    }),
  );
  for (const entry of logprobs) emitDelta(turn, entry.token, [entry]);
  return end(turn, [messageItem(deltas.join(""), logprobs)]);
}

/** A whole text response. */
export function say(turn: FakeTurn, deltas: readonly string[]): ResponseObject {
  begin(turn);
  for (const delta of deltas) emitDelta(turn, delta);
  const text = deltas.join("");
  return end(turn, [messageItem(text)]);
}

export function begin(turn: FakeTurn): void {
  turn.emit({ type: "response.created", response: turn.response });
  turn.emit({ type: "response.in_progress", response: turn.response });
}

export function emitDelta(
  turn: FakeTurn,
  delta: string,
  logprobs: readonly TokenLogprob[] = [],
): void {
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  turn.emit({ type: "response.output_text.delta", ...place, delta, logprobs });
}

export function callItem(args: string, name = "f") {
  return {
    id: "fc_1",
    type: "function_call" as const,
    status: "completed" as const,
    call_id: "call_1",
    name,
    arguments: args,
  };
}

/** A whole response with one function call. */
export function callFunction(turn: FakeTurn, name: string, args: string): ResponseObject {
  begin(turn);
  const item = callItem(args, name);
  const added = { ...item, status: "in_progress" as const, arguments: "" };
  turn.emit({ type: "response.output_item.added", output_index: 0, item: added });
  const type = "response.function_call_arguments.delta";
  turn.emit({ type, item_id: "fc_1", output_index: 0, delta: args });
  turn.emit({ type: "response.output_item.done", output_index: 0, item });
  return end(turn, [item]);
}

export function end(
  turn: FakeTurn,
  output: readonly OutputItem[],
  changes: Partial<ResponseObject> = {},
): ResponseObject {
  const usage = {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 8,
  };
  const response = { ...turn.response, status: "completed" as const, output, usage, ...changes };
  const type = `response.${response.status}` as "response.completed";
  turn.emit({ type, response });
  return response;
}

/** Runs until the test lets it go, or until its client does. */
export function holdUntilAborted(turn: FakeTurn): Promise<ResponseObject> {
  begin(turn);
  return new Promise((resolve) => {
    turn.signal.addEventListener("abort", () =>
      resolve({ ...turn.response, status: "in_progress" }),
    );
  });
}

export function messageItem(text: string, logprobs: readonly TokenLogprob[] = []): OutputItem {
  const content = [{ type: "output_text" as const, text, annotations: [], logprobs }];
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content };
}

function responseObject(id: string, request: ResponsesRequest): ResponseObject {
  return {
    id,
    object: "response",
    created_at: 1_700_000_000,
    completed_at: null,
    status: "in_progress",
    background: false,
    error: null,
    frequency_penalty: 0,
    presence_penalty: 0,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: request.maxOutputTokens,
    max_tool_calls: null,
    metadata: request.metadata,
    model: request.model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: request.previousResponseId,
    prompt_cache_key: null,
    prompt_cache_retention: null,
    reasoning: null,
    safety_identifier: null,
    service_tier: "default",
    store: request.store,
    temperature: 1,
    text: null,
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: null,
    user: null,
  };
}

/** Turns stay open until the test ends them, in any order. */
export function holdTurns(session: FakeSession): (() => void)[] {
  const held: (() => void)[] = [];
  session.script = (turn: FakeTurn) => {
    begin(turn);
    return new Promise((resolve) => {
      held.push(() => resolve(end(turn, [])));
    });
  };
  return held;
}
