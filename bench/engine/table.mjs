/** Rows of the result file as people read them. */
import { printTable } from "../results.mjs";

const range = (values) =>
  values === undefined ? "" : `${values.median} (${values.min} - ${values.max})`;

const verdict = ({ target, met, unit, ratio }) => {
  if (target === undefined) return "";
  const sign = ratio === undefined ? "<=" : ">=";
  return `${sign} ${target}${unit === "tok/s" ? "x" : ""} ${met ? "met" : "missed"}`;
};

export function progressLine({ id, unit, ours, peer, ratio }) {
  return [id, unit, ...[ours, peer, ratio].map(range)].join("  ");
}

/** What the closing line says about targets, by kind of machine. */
const TARGETS_ARE_FOR = {
  amx: "Targets are those for machines with AMX.",
  avx512: "Targets are those for machines with AVX-512 VNNI and no AMX.",
  other: "Targets are those for machines with AVX-512 VNNI, which this one lacks.",
};

export function printRows(rows, { peer, kind }) {
  const header = ["row", "unit", "ours", `${peer.name} ${peer.version}`, "ours / peer", "target"];
  const lines = rows.map((row) => [
    row.id,
    row.unit,
    range(row.ours),
    range(row.peer),
    range(row.ratio),
    verdict(row),
    row.coresUsed === undefined ? "" : `${row.coresUsed.ours} / ${row.coresUsed.peer}`,
    row.disturbed ? "disturbed" : "",
  ]);
  printTable([...header, "cores used", ""], lines);
  console.log(`\n${TARGETS_ARE_FOR[kind]}`);
}
