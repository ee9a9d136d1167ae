/**
 * `npm run bench:report`: writes the tables of all result files of bench:engine and bench:fidelity
 * between the two marker lines of the main README, and says which rows miss their targets.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { machineSection, missed } from "./markdown.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const RESULTS = path.join(ROOT, "bench", "results");
const README = path.join(ROOT, "README.md");
const BEGIN = "<!-- bench:report -->";
const END = "<!-- bench:report end -->";

const read = (file) => JSON.parse(readFileSync(path.join(RESULTS, file), "utf8"));

const sections = [];
for (const file of readdirSync(RESULTS).filter((name) => name.startsWith("engine-"))) {
  const fidelityFile = file.replace("engine-", "fidelity-");
  const fidelity = existsSync(path.join(RESULTS, fidelityFile)) ? read(fidelityFile) : undefined;
  const engine = read(file);
  sections.push(machineSection(engine, fidelity));
  for (const id of missed([...engine.rows, ...(fidelity?.rows ?? [])])) {
    console.log(`${engine.machine.cpu}: ${id} misses its target`);
  }
}
const readme = readFileSync(README, "utf8");
const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
if (begin < 0 || end < begin) throw new Error(`README.md lacks ${BEGIN} and ${END}`);
const tables = `${BEGIN}\n\n${sections.join("\n\n")}\n\n`;
writeFileSync(README, readme.slice(0, begin) + tables + readme.slice(end));
console.log("wrote the tables of README.md");
