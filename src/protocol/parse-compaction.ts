/** Compaction in a request: items that stand for an earlier part of the conversation, and when to make one. */
import { decodeSummary } from "./compaction-blob.ts";
import { FieldReader } from "./field-reader.ts";
import { idOf } from "./item-fields.ts";
import type { InputItem, MessageItem } from "./responses-types.ts";

const ITEM_TYPES = ["compaction", "compaction_summary", "context_compaction"];
const TRIGGER = "compaction_trigger";
const MIN_THRESHOLD = 1000; // of the API: below it a conversation would consist of summaries

/** undefined: the item is of another type. */
export function parseCompactionItem(item: FieldReader, type: string): InputItem | undefined {
  if (type === TRIGGER) return { type: "ignored" };
  if (!ITEM_TYPES.includes(type)) return undefined;
  const blob = item.string("encrypted_content");
  // Clients write one of these themselves, without a summary, to mark the place.
  if (blob === undefined && type === "context_compaction") return { type: "ignored" };
  const summary = decodeSummary(blob ?? item.missing("encrypted_content"));
  if (summary !== undefined) return { ...summaryMessage(summary), ...idOf(item) };
  throw item.invalid("encrypted_content", "was not made by this server");
}

/** How the model reads a summary. */
export function summaryMessage(summary: string): MessageItem {
  const text = `The conversation before this point was compacted. Summary of it:\n\n${summary}`;
  return {
    type: "message",
    role: "user",
    content: [{ type: "input_text", text }],
    isSummary: true,
  };
}

/** The input ends with the wish for a compaction. @throws {ApiError} it stands somewhere else */
export function endsWithTrigger(input: unknown): boolean {
  if (!Array.isArray(input)) return false;
  const index = input.findIndex((item) => item?.type === TRIGGER);
  if (index === -1) return false;
  if (index === input.length - 1) return true;
  throw new FieldReader(input[index], `input[${index}]`).invalid("type", "must be the last item");
}

/** Tokens from which the context is compacted before it is answered; undefined: never. */
export function parseCompactThreshold(body: FieldReader): number | undefined {
  const path = body.pathOf("context_management");
  const edits = (body.array("context_management") ?? []).map((value, index) => {
    const edit = new FieldReader(value, `${path}[${index}]`);
    if (edit.requiredString("type") !== "compaction") throw edit.invalid("type", "is not known");
    const range = { min: MIN_THRESHOLD, max: Number.MAX_SAFE_INTEGER };
    return edit.integer("compact_threshold", range) ?? edit.missing("compact_threshold");
  });
  return edits.length === 0 ? undefined : Math.min(...edits);
}
