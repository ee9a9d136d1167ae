/**
 * `npm run check:tools [-- --samples 20 --shard 1/2 --file PATH]`: arguments that the default model writes
 * for every tool of WARMLOOP_TEST_DATA at temperature 1.5, judged by ajv. Hours of work: each answer is a
 * line of `--file` as soon as it is there, and a later run goes on where an earlier one stopped. When
 * nothing is missing any more the counts become a result file. See bench/README.md.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { cachedModel } from "../../test/cached-model.ts";
import { ArgumentSampler } from "../../test/tools/argument-sampler.ts";
import { judgeOf, prefixJudgeOf } from "../../test/tools/judge.ts";
import { realTools } from "../../test/tools/real-tools.ts";
import { describeRun, printTable, summary, writeResults } from "../results.mjs";

const MODEL_ID = "smollm2-135m-instruct";
/** Answers that share the engine's steps. */
const CONCURRENT = 16;

const { values: flags } = parseArgs({
  options: {
    samples: { type: "string", default: "20" },
    "max-tokens": { type: "string", default: "128" },
    threads: { type: "string", default: "1" },
    activations: { type: "string", default: "wide" },
    shard: { type: "string", default: "1/1" },
    file: { type: "string", default: "bench/scratch/samples.jsonl" },
  },
});

const readSamples = () =>
  existsSync(flags.file)
    ? readFileSync(flags.file, "utf8")
        .split("\n")
        .filter((line) => line.endsWith("}")) // a line that was being written is drawn again
        .map((line) => JSON.parse(line))
    : [];

function missingJobs() {
  const keyOf = (toolId, seed) => `${toolId} ${seed}`;
  const done = new Set(readSamples().map(({ toolId, seed }) => keyOf(toolId, seed)));
  return realTools.flatMap((tool, toolIndex) =>
    Array.from({ length: Number(flags.samples) }, (_, seed) => ({ tool, toolIndex, seed })).filter(
      ({ seed }) => !done.has(keyOf(tool.id, seed)),
    ),
  );
}

async function draw(jobs) {
  const sampler = await ArgumentSampler.open({
    modelPath: cachedModel(MODEL_ID),
    maxTokens: Number(flags["max-tokens"]),
    threads: Number(flags.threads),
    activations: flags.activations,
  });
  const worker = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const sample = await sampler.sample(job.tool, job.seed);
      appendFileSync(flags.file, `${JSON.stringify(sample)}\n`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
  await sampler.close();
}

/** Counts of what was drawn; wrong ones are printed. */
function judge(samples) {
  const schemas = new Map(realTools.map(({ id, inputSchema }) => [id, inputSchema]));
  const judges = new Map();
  const judgesOf = (id) => {
    if (!judges.has(id)) {
      const schema = schemas.get(id);
      judges.set(id, { whole: judgeOf(schema), prefix: prefixJudgeOf(schema) });
    }
    return judges.get(id);
  };
  const isRight = ({ toolId, isCut, text }) =>
    isCut ? judgesOf(toolId).prefix(text) : judgesOf(toolId).whole(JSON.parse(text));
  for (const sample of samples.filter((one) => !isRight(one))) console.log("wrong:", sample);
  const count = (isCut, wanted) =>
    samples.filter((one) => one.isCut === isCut && isRight(one) === wanted).length;
  return {
    "finished/valid": count(false, true),
    "finished/invalid": count(false, false),
    "cut/valid-beginning": count(true, true),
    "cut/invalid-beginning": count(true, false),
  };
}

const TARGETS = { "finished/invalid": 0, "cut/invalid-beginning": 0 };

if (realTools.length === 0 || cachedModel(MODEL_ID) === undefined) {
  console.error("skipped: no WARMLOOP_TEST_DATA, or the default model is not in the cache");
  process.exit(0);
}
const run = describeRun("samples");
const [shard, numShards] = flags.shard.split("/").map(Number);
await draw(missingJobs().filter(({ toolIndex }) => toolIndex % numShards === shard - 1));
const samples = readSamples();
const rows = Object.entries(judge(samples)).map(([id, count]) => ({
  id,
  unit: "outputs",
  ours: summary([count]),
  ...(id in TARGETS && { target: TARGETS[id], met: count === TARGETS[id] }),
  disturbed: false,
}));
printTable(
  ["row", "unit", "ours", "target", "met"],
  rows.map(({ id, unit, ours, target, met }) => [id, unit, ours.median, target ?? "", met ?? ""]),
);
const numLeft = missingJobs().length;
if (numLeft > 0) console.log(`${numLeft} outputs are still to be drawn`);
else writeResults(run, { rows });
