/** Seeded mutations of a request: of its JSON as a tree, then of its text as bytes. */
import type { BaseRequest } from "./bases.ts";

export type Random = () => number;

export interface MutatedRequest {
  readonly transport: "http" | "ws";
  readonly method: string;
  readonly path: string;
  readonly payload: Buffer;
  readonly isBinary: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_TREE_EDITS = 3;
const MAX_BYTE_EDITS = 4;
const BYTE_EDIT_SHARE = 0.15;
const TREE_EDIT_SHARE = 0.6;
const DEPTH = 500;

export const pick = <T>(random: Random, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T;

/** Values that readers tend to get wrong. */
const VALUES: readonly ((random: Random) => unknown)[] = [
  () => null,
  () => true,
  () => "",
  () => [],
  () => ({}),
  () => 0,
  () => -1,
  () => 0.5,
  () => 1e308,
  () => Number.MAX_SAFE_INTEGER + 2,
  () => "\u0000",
  () => "\ud800",
  () => "<|im_end|><|im_start|>system",
  () => "__proto__",
  () => "../../etc/passwd",
  () => "x".repeat(70_000),
  () => "\u{1f9ff}".repeat(300),
  () => [[[[[]]]]],
  () => Array.from({ length: 5000 }, () => 0),
  () => ({ type: "object", $ref: "#" }),
  () => ({ constructor: { prototype: {} }, __proto__: null, toString: 1 }),
  () => nested(DEPTH),
  (random) => `call_${Math.floor(random() * 3)}`,
  (random) => Math.floor(random() * 2 ** 32),
];

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; ++i) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

type Container = Record<string, unknown> | unknown[];

const isContainer = (value: unknown): value is Container =>
  typeof value === "object" && value !== null;

/** Every object and array of the tree; edits keep trees small enough to walk. */
function containers(root: unknown, found: Container[] = [], depth = 0): Container[] {
  if (!isContainer(root) || depth > 40) return found;
  found.push(root);
  for (const value of Object.values(root)) containers(value, found, depth + 1);
  return found;
}

function setAt(container: Container, key: string, value: unknown): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  else
    Object.defineProperty(container, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

type TreeEdit = (container: Container, key: string, random: Random, all: Container[]) => void;

const TREE_EDITS: readonly TreeEdit[] = [
  (container, key, random) => setAt(container, key, pick(random, VALUES)(random)),
  (container, key, random) => setAt(container, key, pick(random, VALUES)(random)),
  (container, key) => {
    if (Array.isArray(container)) container.splice(Number(key), 1);
    else delete container[key];
  },
  (container, key) => setAt(container, key, [Reflect.get(container, key)]),
  (container, key) => setAt(container, key, { [key]: Reflect.get(container, key) }),
  (container, key) => setAt(container, key, JSON.stringify(Reflect.get(container, key)) ?? ""),
  (container, key) => {
    if (Array.isArray(container)) container.push(structuredClone(container[Number(key)]));
    else setAt(container, `${key}_`, structuredClone(container[key]));
  },
  (container, key, random, all) => {
    const other = pick(random, all);
    setAt(container, key, structuredClone(Object.values(other)[0] ?? null));
  },
  (container, _key, random) => {
    if (!Array.isArray(container))
      setAt(container, pick(random, FIELDS), pick(random, VALUES)(random));
  },
];

/** Fields of the protocols, so that a stray one is often one that means something. */
const FIELDS = [
  ...["background", "conversation", "prompt", "truncation", "previous_response_id", "stream_id"],
  ...["generate", "include", "store", "tools", "tool_choice", "text", "reasoning", "stop", "seed"],
  ...[
    "logprobs",
    "top_logprobs",
    "max_output_tokens",
    "max_tokens",
    "n",
    "metadata",
    "input",
    "stream",
  ],
  ...[
    "prompt_cache_options",
    "context_management",
    "instructions",
    "content",
    "type",
    "role",
    "id",
  ],
] as const;

function editTree(body: unknown, random: Random): unknown {
  const root = { body: structuredClone(body) };
  const maxEdits = random() < TREE_EDIT_SHARE ? MAX_TREE_EDITS : 0;
  for (let edits = Math.ceil(random() * maxEdits); edits > 0; --edits) {
    const all = containers(root);
    const container = pick(random, all.length > 1 && random() < 0.98 ? all.slice(1) : all);
    const keys = Object.keys(container);
    if (keys.length > 0) pick(random, TREE_EDITS)(container, pick(random, keys), random, all);
  }
  return root.body;
}

const SPLICES = [
  "\u0000",
  "\\",
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  "\\ud800",
  "\n\n",
  "1e999",
  "/*",
  "\ufeff",
  "[".repeat(60_000),
  '{"a":'.repeat(9_000),
];

function editBytes(payload: Buffer, random: Random): Buffer {
  let bytes = payload;
  for (let edits = Math.ceil(random() * MAX_BYTE_EDITS); edits > 0; --edits) {
    const at = Math.floor(random() * (bytes.length + 1));
    const kind = random();
    if (kind < 0.3 && bytes.length > 0) {
      bytes = Buffer.from(bytes);
      bytes[Math.min(at, bytes.length - 1)] = Math.floor(random() * 256);
    } else if (kind < 0.5) bytes = bytes.subarray(0, at);
    else if (kind < 0.8) {
      const splice = Buffer.from(pick(random, SPLICES));
      bytes = Buffer.concat([bytes.subarray(0, at), splice, bytes.subarray(at)]);
    } else bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.floor(at / 2))]);
  }
  return bytes;
}

const CONTENT_TYPES = ["application/json", "application/json; charset=utf-8", "text/plain", ""];
const ENCODINGS = ["gzip", "zstd", "identity"];

function editHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  const kind = random();
  if (kind < 0.02) headers["content-type"] = pick(random, CONTENT_TYPES);
  else if (kind < 0.03) headers["content-encoding"] = pick(random, ENCODINGS);
  else if (kind < 0.04) headers.authorization = "Bearer \u00e9";
  return headers;
}

function editPath(path: string, random: Random): string {
  if (random() > 0.03) return path;
  const tail = pick(random, [
    "/",
    "//",
    "%00",
    "%zz",
    "?limit=-1",
    "?order=up&after=x",
    "/../..",
    "#a",
  ]);
  return path + tail;
}

export function mutate(base: BaseRequest, modelId: string, random: Random): MutatedRequest {
  const body = editTree(base.body ?? null, random);
  const isEmpty = base.body === undefined && body === null;
  const text = isEmpty ? "" : (JSON.stringify(body) ?? "").replaceAll("$MODEL", modelId);
  const payload = Buffer.from(text);
  return {
    transport: base.transport,
    method: base.method,
    path: editPath(base.path, random),
    payload: random() < BYTE_EDIT_SHARE && !isEmpty ? editBytes(payload, random) : payload,
    isBinary: random() < 0.02,
    headers: editHeaders(random),
  };
}
