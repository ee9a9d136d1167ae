/**
 * Calls of the model as output items and their events: functions with JSON arguments, free-form tools
 * with a text, built-in tools with fields. An open call says what it gets; closing it gives the finished item.
 */
import { isJsonObject } from "../base/json-object.ts";
import { randomId } from "../base/random-id.ts";
import { builtInCall } from "../protocol/built-in-calls.ts";
import type { BuiltInTool } from "../protocol/built-in-tools.ts";
import type {
  CallableTool,
  ItemStatus,
  OutputBuiltInCall,
  OutputCustomCall,
  OutputFunctionCall,
  OutputItem,
  ResponseEventBody,
} from "../protocol/responses-types.ts";
import { CustomInput } from "./custom-input.ts";

export interface OpenCall {
  /** A piece of the JSON arguments. */
  push(delta: string): void;
  /** The call is whole. */
  close(): OutputItem;
}

type Send = (body: ResponseEventBody) => void;

/** @param name what the model calls the tool by */
export function openCall(
  send: Send,
  name: string,
  tool: CallableTool | undefined,
  outputIndex: number,
): OpenCall {
  const type = tool?.type ?? "function";
  const callName = tool?.member ?? { name };
  if (type === "custom") return new OpenCustomCall(send, callName, outputIndex);
  if (type === "function") return new OpenFunctionCall(send, callName, outputIndex);
  return new OpenBuiltInCall(send, type, outputIndex);
}

/** The name as the client knows it. */
type CallName = Pick<OutputFunctionCall, "name" | "namespace">;

class OpenFunctionCall implements OpenCall {
  readonly #send: Send;
  readonly #outputIndex: number;
  #item: OutputFunctionCall;

  constructor(send: Send, name: CallName, outputIndex: number) {
    this.#send = send;
    this.#outputIndex = outputIndex;
    this.#item = {
      id: randomId("fc"),
      type: "function_call",
      status: "in_progress",
      call_id: randomId("call"),
      ...name,
      arguments: "",
    };
    this.#send({
      type: "response.output_item.added",
      output_index: outputIndex,
      item: this.#item,
    });
  }

  push(delta: string): void {
    if (delta === "") return;
    this.#item = { ...this.#item, arguments: this.#item.arguments + delta };
    this.#send({
      type: "response.function_call_arguments.delta",
      item_id: this.#item.id,
      output_index: this.#outputIndex,
      delta,
    });
  }

  close(): OutputFunctionCall {
    const item = completed(this.#item);
    this.#send({
      type: "response.function_call_arguments.done",
      item_id: item.id,
      output_index: this.#outputIndex,
      name: item.name,
      arguments: item.arguments,
    });
    this.#send({ type: "response.output_item.done", output_index: this.#outputIndex, item });
    return item;
  }
}

class OpenCustomCall implements OpenCall {
  readonly #send: Send;
  readonly #outputIndex: number;
  readonly #input = new CustomInput();
  #item: OutputCustomCall;

  constructor(send: Send, name: CallName, outputIndex: number) {
    this.#send = send;
    this.#outputIndex = outputIndex;
    this.#item = {
      id: randomId("ctc"),
      type: "custom_tool_call",
      status: "in_progress",
      call_id: randomId("call"),
      ...name,
      input: "",
    };
    this.#send({
      type: "response.output_item.added",
      output_index: outputIndex,
      item: this.#item,
    });
  }

  push(delta: string): void {
    this.#add(this.#input.push(delta));
  }

  close(): OutputCustomCall {
    this.#add(this.#input.finish());
    const item = completed(this.#item);
    this.#send({
      type: "response.custom_tool_call_input.done",
      item_id: item.id,
      output_index: this.#outputIndex,
      input: item.input,
    });
    this.#send({ type: "response.output_item.done", output_index: this.#outputIndex, item });
    return item;
  }

  #add(delta: string): void {
    if (delta === "") return;
    this.#item = { ...this.#item, input: this.#item.input + delta };
    this.#send({
      type: "response.custom_tool_call_input.delta",
      item_id: this.#item.id,
      output_index: this.#outputIndex,
      delta,
    });
  }
}

const ID_PREFIXES: Readonly<Record<BuiltInTool, string>> = {
  tool_search: "tsc",
  local_shell: "lsh",
  shell: "sh",
  apply_patch: "apc",
};

/** A call that says what to do in fields: nothing of it streams, so all is sent once it is whole. */
class OpenBuiltInCall implements OpenCall {
  readonly #send: Send;
  readonly #tool: BuiltInTool;
  readonly #outputIndex: number;
  #arguments = "";

  constructor(send: Send, tool: BuiltInTool, outputIndex: number) {
    this.#send = send;
    this.#tool = tool;
    this.#outputIndex = outputIndex;
  }

  push(delta: string): void {
    this.#arguments += delta;
  }

  close(): OutputBuiltInCall {
    const place = { output_index: this.#outputIndex };
    const head = { id: randomId(ID_PREFIXES[this.#tool]), call_id: randomId("call") };
    const added = builtInCall(this.#tool, { ...head, status: "in_progress" });
    this.#send({ type: "response.output_item.added", ...place, item: added });
    const args: unknown = JSON.parse(this.#arguments);
    if (!isJsonObject(args)) throw new TypeError("arguments of a whole call are a JSON object");
    const item = builtInCall(this.#tool, { ...head, status: "completed" }, args);
    this.#send({ type: "response.output_item.done", ...place, item });
    return item;
  }
}

function completed<Item extends { readonly status: ItemStatus }>(item: Item): Item {
  return { ...item, status: "completed" };
}
