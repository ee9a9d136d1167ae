/**
 * Fields that agents send again with every request, recognised by the hash of their raw text: what was
 * parsed and validated once is the same objects from then on, so that what compares them sees it at once.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { parseJsonObject, type RawField } from "./parse-json.ts";
import type { ParsedTools } from "./parse-tools.ts";

const NAMES: ReadonlySet<string> = new Set(["tools", "instructions"]);
/** A hundred lists of forty tools; what is parsed takes a few times as much memory. */
const MAX_RAW_CHARS = 4 * 1024 * 1024;

/** Of one tenant: whether another has sent the same is not to be seen from the time that parsing takes. */
export class RepeatedFields {
  readonly #values = new LRUCache<string, { readonly value: unknown; readonly size: number }>({
    maxSize: MAX_RAW_CHARS,
    sizeCalculation: ({ size }) => size,
  });
  readonly #tools = new WeakMap<readonly unknown[], ParsedTools>();

  /** The value of a field; parsed when its text is new. @throws {SyntaxError} when that is no JSON */
  valueOf({ name, raw }: RawField): unknown {
    const key = createHash("sha256").update(name).update("\0").update(raw).digest("base64");
    const known = this.#values.get(key);
    if (known) return known.value;
    const value: unknown = JSON.parse(raw);
    this.#values.set(key, { value, size: raw.length });
    return value;
  }

  /** What `parse` made of the array when it came first. @throws what `parse` throws */
  parsedTools(tools: readonly unknown[], parse: () => ParsedTools): ParsedTools {
    const known = this.#tools.get(tools);
    if (known) return known;
    const parsed = parse();
    this.#tools.set(tools, parsed);
    return parsed;
  }
}

/** @throws {ApiError} 400 invalid_json */
export function parseRequestJson(payload: Uint8Array, repeated: RepeatedFields | undefined) {
  const apart = repeated && {
    names: NAMES,
    parseField: (field: RawField) => repeated.valueOf(field),
  };
  return parseJsonObject(payload, apart);
}
