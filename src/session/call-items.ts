/**
 * Calls of the model as output items and their events: functions with JSON arguments, free-form tools
 * with a text. An open call says what it gets; closing it gives the finished item.
 */
import { randomId } from "../base/random-id.ts";
import type {
  ItemStatus,
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

/** The name as the client knows it. */
type CallName = Pick<OutputFunctionCall, "name" | "namespace">;

export class OpenFunctionCall implements OpenCall {
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

export class OpenCustomCall implements OpenCall {
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

function completed<Item extends { readonly status: ItemStatus }>(item: Item): Item {
  return { ...item, status: "completed" };
}
