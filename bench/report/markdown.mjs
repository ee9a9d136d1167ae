/** Result files of bench:engine and bench:fidelity as Markdown tables. Pure: text in, text out. */

/** Row ids end with the model and what follows it: `decode/smollm2-q4_1/t1/s8/d512/int8`. */
function parseId(id) {
  const [metric, model, ...rest] = id.split("/");
  const numberOf = (letter) => {
    const part = rest.find((text) => new RegExp(`^${letter}\\d+$`).test(text));
    return part === undefined ? undefined : Number(part.slice(1));
  };
  return {
    metric,
    model,
    threads: numberOf("t"),
    sequences: numberOf("s"),
    depth: numberOf("d"),
    isInt8: rest.includes("int8"),
    detail: rest.at(-1),
  };
}

function rateLabel({ metric, model, sequences, depth }) {
  if (metric === "prefill") return `prefill 512, ${model}`;
  const streams = sequences === 1 ? "1 stream" : `${sequences} streams together`;
  return `decode, ${streams}${depth === undefined ? "" : ` at depth ${depth}`}, ${model}`;
}

const COST_LABELS = {
  verify: ({ model, threads }) => `4 tokens in one pass, of 1 token, ${model}, ${threads}T`,
  "shared-prefix": () => "tokens computed of four prompts that share 800 of 820",
  start: ({ model }) => `process start to first token, of the peer's, ${model}`,
  weights: ({ model }) => `memory for weights, of the file, ${model}`,
  "busy-core": ({ threads }) => `decode beside a process that fills a core, of alone, ${threads}T`,
  gaps: ({ detail }) => `tokens of chats beside long prompts, ${detail.replace("-steps", "")} gap`,
  "mean-kl": ({ model }) => `mean KL, ${model}`,
  "p99-kl": ({ model }) => `99th percentile of KL, ${model}`,
  "top-1": ({ model }) => `same most likely token, ${model}`,
};

const line = (cells) => `| ${cells.join(" | ")} |`;

function table(header, lines) {
  return [line(header), line(header.map(() => "---")), ...lines.map(line)].join("\n");
}

const MARK = "†";
const markOf = ({ disturbed, met }) => `${met === false ? " missed" : ""}${disturbed ? MARK : ""}`;

/** Four digits are in the file; three are enough to read. */
const short = (value) => String(Number(value.toPrecision(3)));

/** Groups of rows by key, in order of their first row. */
function groupBy(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

/** Ours, the ratio and the int8 ratio at one number of threads; empty cells where nothing is. */
function rateCells(rows, threads) {
  const find = (isInt8) =>
    rows.find(({ key }) => key.threads === threads && key.isInt8 === isInt8)?.row;
  const [wide, int8] = [find(false), find(true)];
  if (wide === undefined) return ["", "", ""];
  const ratio = `${short(wide.ratio.median)}x${markOf(wide)}`;
  return [short(wide.ours.median), ratio, int8 === undefined ? "" : `${short(int8.ratio.median)}x`];
}

function targetCell(rows) {
  const targets = [...new Set(rows.map(({ row }) => row.target).filter((t) => t !== undefined))];
  return targets.map((target) => `${target}x`).join(" / ");
}

/** Rates: one line a workload, one and two threads beside each other. */
export function rateTable(rows) {
  const parsed = rows
    .filter(({ unit }) => unit === "tok/s")
    .map((row) => ({ row, key: parseId(row.id) }));
  const groups = groupBy(parsed, ({ key }) => rateLabel(key));
  const threadCounts = [...new Set(parsed.map(({ key }) => key.threads))].sort();
  const header = threadCounts.flatMap((threads) => [`${threads}T`, "ratio", "int8 ratio"]);
  const lines = [...groups].map(([label, group]) => [
    label,
    ...threadCounts.flatMap((threads) => rateCells(group, threads)),
    targetCell(group),
  ]);
  return table(["tokens a second", ...header, "target"], lines);
}

function costCells(row) {
  const { unit, ours, peer, target, ms } = row;
  const suffix = { "x of 1": "x", "%": " %" }[unit] ?? ` ${unit}`;
  const sign = unit === "%" ? ">=" : "<=";
  return [
    `${short(ours.median)}${suffix}${ms === undefined ? "" : ` (${short(ms.ours.median)} ms)`}`,
    peer === undefined ? "" : `${short(peer.median)}${suffix}`,
    target === undefined ? "" : `${sign} ${target}${suffix}${markOf(row)}`,
  ];
}

/**
 * Everything that is no rate: less is better, but for percentages. The column beside ours is titled
 * `other.title` and comes from the same row's `peer` or, with `other.from` "int8", from the int8 row.
 */
export function costTable(rows, other) {
  const parsed = rows
    .filter(({ unit }) => unit !== "tok/s")
    .map((row) => ({ row, key: parseId(row.id) }));
  const groups = groupBy(parsed, ({ row }) => row.id.replace(/\/int8$/, ""));
  const lines = [...groups.values()].map((group) => {
    const wide = group.find(({ key }) => !key.isInt8);
    const int8 = group.find(({ key }) => key.isInt8)?.row;
    const [ours, peer, target] = costCells(wide.row);
    const beside = other.from === "peer" ? peer : int8 && costCells(int8)[0];
    return [COST_LABELS[wide.key.metric](wide.key), ours, beside ?? "", target];
  });
  return table(["", "ours", other.title, "target"], lines);
}

/** Rows that miss their target, by id. */
export const missed = (rows) => rows.filter(({ met }) => met === false).map(({ id }) => id);

/** The section of one machine. */
export function machineSection(engine, fidelity) {
  const { cpu, isa, cores } = engine.machine;
  const peerName = `${engine.peer.name} ${engine.peer.version}`;
  const parts = [
    `**${cpu}, ${cores} cores, ${isa}.** Ratios are ours over ${peerName}.`,
    rateTable(engine.rows),
  ];
  if (engine.rows.some(({ unit }) => unit !== "tok/s")) {
    parts.push(costTable(engine.rows, { title: peerName, from: "peer" }));
  }
  if (fidelity !== undefined) {
    parts.push(
      `Against ${fidelity.peer.name}, ${fidelity.rows[0].ours.n} tokens of text:`,
      costTable(fidelity.rows, { title: "int8", from: "int8" }),
    );
  }
  if ([...engine.rows, ...(fidelity?.rows ?? [])].some(({ disturbed }) => disturbed)) {
    parts.push(`${MARK} measured while other processes took the cores.`);
  }
  return parts.join("\n\n");
}
