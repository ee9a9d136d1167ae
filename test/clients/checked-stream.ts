/** The rules that a strict client checks of the events of one response, in any order of trust. */
import { expect } from "vitest";
import { type Item, parseEvent, type Response, type StreamEvent } from "./response-schemas.ts";

export interface CheckedStream {
  readonly events: readonly StreamEvent[];
  readonly response: Response;
}

const TERMINAL = /^response\.(completed|incomplete|failed)$/;

export function isTerminal({ type }: { readonly type: string }): boolean {
  return TERMINAL.test(type);
}

/** @param received all events of one response, as sent */
export function checkStream(received: readonly unknown[]): CheckedStream {
  const events = received.map(parseEvent);
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  expect(events[0]?.type).toBe("response.created");
  expect(events.filter(isTerminal)).toHaveLength(1);
  const response = events.at(-1)?.response as Response;
  const items = new Map<number, ItemLog>();
  for (const event of events) checkEvent(event, items);
  expect([...items.values()].map(({ done }) => done).filter((item) => item !== undefined)).toEqual(
    response.output,
  );
  return { events, response };
}

interface ItemLog {
  readonly added: Item;
  readonly deltas: Map<string, string>;
  done: Item | undefined;
}

function checkEvent(event: StreamEvent, items: Map<number, ItemLog>): void {
  if (event.output_index === undefined) return;
  const index = event.output_index as number;
  if (event.type === "response.output_item.added") {
    expect(index).toBe(items.size);
    items.set(index, { added: event.item as Item, deltas: new Map(), done: undefined });
    return;
  }
  const log = items.get(index);
  if (log === undefined) throw new Error(`${event.type} of an item that was not added`);
  expect(log.done).toBeUndefined();
  if (event.type === "response.output_item.done") {
    log.done = event.item as Item;
    expect(log.done).toMatchObject({ id: log.added.id, type: log.added.type });
    return;
  }
  expect(event.item_id).toBe(log.added.id);
  checkText(event, log);
}

/** Deltas, joined, are the text of the event that ends them. */
function checkText(event: StreamEvent, { deltas }: ItemLog): void {
  const [kind = "", moment] = splitType(event.type);
  if (moment === "delta") deltas.set(kind, (deltas.get(kind) ?? "") + event.delta);
  if (moment !== "done" || event.part !== undefined) return;
  const whole = event.text ?? event.arguments ?? event.input ?? event.refusal;
  expect(whole).toBe(deltas.get(kind) ?? "");
}

function splitType(type: string): readonly string[] {
  const dot = type.lastIndexOf(".");
  return [type.slice(0, dot), type.slice(dot + 1)];
}
