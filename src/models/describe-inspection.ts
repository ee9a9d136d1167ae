/** What `models inspect` says about a checkpoint, line by line. */
import { readdirSync, statSync } from "node:fs";
import { formatBytes, printable } from "../base/format.ts";
import type { MetadataValue, ModelInspection, TensorSummary } from "../native/addon-types.ts";

const KIB_TOKENS = 1024;

export function describeInspection(
  id: string,
  modelPath: string,
  inspection: ModelInspection,
): string[] {
  const { numLayers, hidden, ffn, numHeads, numKvHeads, headDim, vocab } = inspection;
  const facts: [string, string][] = [
    ["id", id],
    ["path", modelPath],
    ["container", inspection.container],
    ["architecture", inspection.arch || "not one this build runs"],
    ["context", `${inspection.context} tokens`],
    ["shape", `${numLayers} layers, hidden ${hidden}, feed-forward ${ffn}, vocabulary ${vocab}`],
    ["attention", `${numHeads} heads on ${numKvHeads} KV heads of ${headDim}`],
    ["tensors", describeTensors(inspection.tensors)],
    ["tokenizer", describeTokenizer(modelPath, inspection)],
    ["chat template", hasChatTemplate(modelPath, inspection) ? "yes" : "none of its own"],
    ["memory", `${formatBytes(inspection.weightBytes)} of weights`],
    ["KV cache", describeKvMemory(inspection)],
  ];
  return facts.map(([name, value]) => `${`${name}:`.padEnd(15)}${printable(value)}`);
}

function describeKvMemory({ kvBytesPerToken, kvWindowBytes }: ModelInspection): string {
  const growing = `${formatBytes(kvBytesPerToken * KIB_TOKENS)} for each 1024 tokens`;
  const windows = `${formatBytes(kvWindowBytes)} for sliding windows`;
  if (kvWindowBytes === 0) return `${growing} (f16)`;
  return kvBytesPerToken === 0 ? `${windows} (f16)` : `${growing} and ${windows} (f16)`;
}

/** `210 Q4_1, 61 F32, 1 Q8_0`, the most frequent type first. */
function describeTensors(tensors: readonly TensorSummary[]): string {
  const counts = new Map<string, number>();
  for (const { type } of tensors) counts.set(type, (counts.get(type) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return `${tensors.length} (${sorted.map(([type, count]) => `${count} ${type}`).join(", ")})`;
}

function describeTokenizer(modelPath: string, { container, metadata }: ModelInspection): string {
  if (container === "safetensors") {
    return filesOf(modelPath).includes("tokenizer.json") ? "tokenizer.json" : "missing";
  }
  const type = asText(metadata["tokenizer.ggml.model"]) ?? "missing";
  const pre = asText(metadata["tokenizer.ggml.pre"]);
  return pre === undefined ? type : `${type}, pre-tokenizer ${pre}`;
}

function hasChatTemplate(modelPath: string, { container, metadata }: ModelInspection): boolean {
  if (container === "gguf") return asText(metadata["tokenizer.chat_template"]) !== undefined;
  // Older folders keep it inside tokenizer_config.json, newer ones in a file of its own.
  return filesOf(modelPath).some((name) => /^(chat_template\.|tokenizer_config\.json$)/.test(name));
}

function filesOf(folder: string): string[] {
  return statSync(folder).isDirectory() ? readdirSync(folder) : [];
}

function asText(value: MetadataValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
