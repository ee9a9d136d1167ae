// What a client sees in an answer, streamed or whole: events, text, calls, finish, usage.
import { parseJson } from "./values.mjs";

export function parseEvents(raw) {
  const events = [];
  let done = false;
  for (const block of raw.split(/\r?\n\r?\n/)) {
    const data = block
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n");
    if (data === "[DONE]") done = true;
    else if (data) events.push(parseJson(data) ?? { unparsable: data });
  }
  return { events, done };
}

const USAGE_NAMES = [
  ["prompt_tokens", "input_tokens"],
  ["completion_tokens", "output_tokens"],
  ["prompt_tokens_details", "input_tokens_details"],
  ["completion_tokens_details", "output_tokens_details"],
];

/** The two APIs name the same counts differently; a case may use either name on either route. */
export function usageBothNames(usage) {
  if (!usage) return null;
  const both = { ...usage };
  for (const [chat, responses] of USAGE_NAMES) {
    both[chat] ??= usage[responses];
    both[responses] ??= usage[chat];
  }
  return both;
}

/**
 * Joins pieces of calls as simple clients do: by `index` alone. A server that repeats index 0 gets glued
 * arguments.
 */
function joinCalls(deltas) {
  const calls = [];
  for (const piece of deltas) {
    const at = piece.index ?? 0;
    calls[at] ??= { index: piece.index, id: undefined, name: "", arguments: "" };
    const call = calls[at];
    call.id ??= piece.id;
    call.name += piece.function?.name ?? "";
    call.arguments += piece.function?.arguments ?? "";
  }
  return calls.filter(Boolean);
}

function viewOfChatStream(events) {
  const choices = events.flatMap((event) => event.choices ?? []);
  return {
    text: choices.map((choice) => choice.delta?.content ?? choice.text ?? "").join(""),
    calls: joinCalls(choices.flatMap((choice) => choice.delta?.tool_calls ?? [])),
    finish:
      choices
        .map((choice) => choice.finish_reason)
        .filter(Boolean)
        .at(-1) ?? null,
    usage: events
      .map((event) => event.usage)
      .filter(Boolean)
      .at(-1),
  };
}

function viewOfResponse(response) {
  const items = response?.output ?? [];
  const parts = items.flatMap((item) => (item.type === "message" ? (item.content ?? []) : []));
  const cut = response?.incomplete_details?.reason;
  return {
    text: parts.map((part) => part.text ?? "").join(""),
    calls: items
      .filter((item) => item.type === "function_call")
      .map((item, index) => ({
        index,
        id: item.call_id,
        name: item.name,
        arguments: item.arguments,
      })),
    finish:
      cut === "max_output_tokens"
        ? "length"
        : (cut ?? (response?.status === "completed" ? "stop" : (response?.status ?? null))),
    usage: response?.usage,
  };
}

function viewOfResponseEvents(events) {
  const view = viewOfResponse(events.findLast((event) => event.response)?.response);
  const calls = new Map();
  for (const event of events) {
    if (event.type === "response.output_item.added" && event.item?.type === "function_call")
      calls.set(event.output_index, {
        index: calls.size,
        id: event.item.call_id,
        name: event.item.name,
        arguments: "",
      });
    if (event.type === "response.function_call_arguments.delta" && calls.has(event.output_index))
      calls.get(event.output_index).arguments += event.delta;
  }
  view.calls = [...calls.values()];
  view.text = events
    .filter((event) => event.type === "response.output_text.delta")
    .map((event) => event.delta)
    .join("");
  return view;
}

function viewOfBody(body) {
  if (Array.isArray(body?.output)) return viewOfResponse(body);
  const choice = body?.choices?.[0];
  const calls = choice?.message?.tool_calls ?? [];
  return {
    text: choice?.message?.content ?? choice?.text ?? "",
    calls: calls.map((call, index) => ({
      index,
      id: call.id,
      name: call.function?.name,
      arguments: call.function?.arguments,
    })),
    finish: choice?.finish_reason ?? null,
    usage: body?.usage,
  };
}

export function viewOfEvents(events) {
  return events.some((event) => String(event.type).startsWith("response."))
    ? viewOfResponseEvents(events)
    : viewOfChatStream(events);
}

export function resultOf(got, { method, route, request, index }) {
  const raw = Buffer.concat(got.chunks).toString("utf8");
  const streamed = String(got.headers["content-type"]).includes("text/event-stream");
  const { events, done } = streamed ? parseEvents(raw) : { events: [], done: false };
  const body = streamed ? null : (parseJson(raw) ?? null);
  // A refusal has no text: two refusals are not the same answer.
  const answered = got.status >= 200 && got.status < 300;
  const view = !answered ? {} : streamed ? viewOfEvents(events) : viewOfBody(body);
  const usage = usageBothNames(view.usage);
  const { chunks: _, ...timing } = got;
  const ended =
    done ||
    ["response.completed", "response.incomplete", "response.failed"].includes(events.at(-1)?.type);
  const result = {
    index,
    method,
    route,
    request,
    raw,
    events,
    body,
    ...timing,
    ...view,
    usage,
    done: ended,
  };
  if (usage?.output_tokens) result.ms_per_token = got.ms / usage.output_tokens;
  return result;
}
