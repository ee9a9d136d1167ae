/** What `models inspect` prints of a report, line by line. */
import { formatBytes, printable } from "../base/format.ts";
import type { TemplateFacts } from "../text/template-facts.ts";
import type { InspectionReport, TokenizerReport, TokenReport } from "./inspection-report.ts";

const MAX_REFUSALS = 20;
const TOOL_STYLES: Readonly<Record<TemplateFacts["tools"], string>> = {
  own: "tools by the template",
  chatml: "tools by ChatML blocks of ours",
  text: "tools as text of the system turn",
};

export function describeReport(report: InspectionReport): string[] {
  const { tokenizer, chatTemplate, warning, license, refusals } = report;
  const facts: (readonly [string, string] | undefined)[] = [
    ["id", report.id],
    ["path", report.path],
    ["container", report.container],
    ["architecture", report.architecture || "not one this build runs"],
    license === undefined ? undefined : ["licence", license],
    ...(report.architecture === "" ? [] : describeShape(report)),
    ["tensors", describeTensors(report)],
    ["tokenizer", tokenizer === undefined ? "not usable" : describeTokenizer(tokenizer)],
    ["chat template", chatTemplate === undefined ? "none" : describeTemplate(chatTemplate)],
    warning === undefined ? undefined : ["warning", warning],
    ["memory", `${formatBytes(report.memory.weightBytes)} of weights`],
    report.architecture === "" ? undefined : ["KV cache", describeKv(report)],
    ...refusals.slice(0, MAX_REFUSALS).map(({ code, message }) => {
      return ["refused", `${code}: ${message}`] as const;
    }),
    refusals.length > MAX_REFUSALS
      ? ["refused", `for ${refusals.length - MAX_REFUSALS} more reasons (--json has them all)`]
      : undefined,
  ];
  return facts
    .filter((fact) => fact !== undefined)
    .map(([name, value]) => `${`${name}:`.padEnd(15)}${printable(value)}`);
}

function describeShape({ shape, features, context }: InspectionReport): [string, string][] {
  const { layers, hidden, feedForward, vocabulary, heads, kvHeads, headDim } = shape;
  const { ropeScaling, slidingWindow, slidingLayers, experts, expertsUsed } = features;
  const attention = [`${heads} heads on ${kvHeads} KV heads of ${headDim}`];
  if (slidingLayers > 0) attention.push(`${slidingLayers} layers see ${slidingWindow} tokens back`);
  if (ropeScaling !== "" && ropeScaling !== "none") attention.push(`rope scaling ${ropeScaling}`);
  return [
    ["context", `${context} tokens`],
    [
      "shape",
      `${layers} layers, hidden ${hidden}, feed-forward ${feedForward}, vocabulary ${vocabulary}`,
    ],
    ["attention", attention.join(", ")],
    ...(experts === 0
      ? []
      : ([["experts", `${experts}, ${expertsUsed} for each token`]] as [string, string][])),
  ];
}

/** `272 (210 Q4_1 84.4 MiB, 1 Q8_0 28.7 MiB, 61 F32 138 KiB)` */
function describeTensors({ tensors }: InspectionReport): string {
  const types = tensors.types.map(({ type, count, bytes }) => {
    return `${count} ${type} ${formatBytes(bytes)}`;
  });
  return `${tensors.count} (${types.join(", ")})`;
}

function describeTokenizer({ kind, pre, vocabulary, bos, endOfGeneration }: TokenizerReport) {
  const show = ({ id, text }: TokenReport): string => `${text} (${id})`;
  return [
    pre === undefined ? kind : `${kind}, pre-tokenizer ${pre}`,
    `${vocabulary} tokens`,
    `BOS ${bos === undefined ? "none" : show(bos)}`,
    `ends with ${endOfGeneration.map(show).join(", ") || "nothing"}`,
  ].join(", ");
}

/** `chatml, tools shown by the template, calls as hermes, thinking as think, rewrites thinking` */
function describeTemplate(facts: TemplateFacts): string {
  const { family, tools, calls, thinking, rewrites, failure } = facts;
  if (failure !== null) return `${family}, does not render: ${failure}`;
  const opened = thinking?.isOpenedByPrompt ? ", opened by the prompt" : "";
  return [
    family,
    TOOL_STYLES[tools],
    `calls as ${calls}`,
    thinking === null ? "no thinking" : `thinking as ${thinking.format}${opened}`,
    rewrites.length === 0 ? "append-only" : `rewrites earlier ${rewrites.join(", ")}`,
  ].join(", ");
}

/** `f16 22.5 MiB for each 1024 tokens, f32 45.0 MiB for each 1024 tokens` */
function describeKv({ memory }: InspectionReport): string {
  const types = memory.kv.map(({ type, bytesPer1kTokens, windowBytes }) => {
    const windows = windowBytes === 0 ? "" : ` and ${formatBytes(windowBytes)} of windows`;
    return `${type} ${formatBytes(bytesPer1kTokens)} for each 1024 tokens${windows}`;
  });
  return types.join(", ");
}
