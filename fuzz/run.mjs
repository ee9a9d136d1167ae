// `npm run fuzz -- TARGET [SECONDS]`: builds a target if need be, makes its seeds and runs it. README.md
// beside this file says what the targets are. Exit 1 when something was found. Runs under tsx.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { writeDictionary } from "./dictionary.mjs";
import { writeSeeds } from "./seeds.mjs";

const ROOT = path.resolve(import.meta.dirname, "..");
const BUILD = path.join(ROOT, "native/build-fuzz");
const SCRATCH = path.join(import.meta.dirname, "scratch");
const NATIVE_TARGETS = ["gguf", "safetensors", "tokenizer", "grammar"];
const DEFAULT_SECONDS = "600";
const MAX_INPUT_BYTES = 1 << 20;
const MAX_TINY_BYTES = 1 << 18; // tiny models run thirty times as often, and have a pass of their own

const [target, seconds = DEFAULT_SECONDS] = process.argv.slice(2);
if (target === "templates") runScript("templates.ts", [seconds]);
else if (target === "requests") runScript("requests.ts", process.argv.slice(3));
else if (NATIVE_TARGETS.includes(target)) runNative(target);
else {
  console.error(`usage: npm run fuzz -- ${[...NATIVE_TARGETS, "templates"].join("|")} [SECONDS]`);
  console.error("       npm run fuzz -- requests [NUMBER] [FROM]");
  process.exit(2);
}

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: "inherit", ...options });
  if (error !== undefined) console.error(`fuzz: ${command}: ${error.message}`);
  if (status !== 0) process.exit(1);
}

/** clang 16 is the first that takes the ranges of GCC 12's library. */
function clang() {
  const found = ["clang++-16", "clang++-19", "clang++"].find(
    (name) => spawnSync(name, ["--version"]).status === 0,
  );
  if (found !== undefined) return found;
  console.error("fuzz: clang++ is missing (Debian package clang-16)");
  return process.exit(1);
}

function runNative(name) {
  const compiler = clang();
  const options = [
    "-DWL_FUZZ=ON",
    "-DCMAKE_BUILD_TYPE=None", // asserts stay on
    "-DCMAKE_CXX_FLAGS=-O1 -g1",
    `-DCMAKE_CXX_COMPILER=${compiler}`,
  ];
  run("cmake", ["-S", "native", "-B", BUILD, ...options]);
  const jobs = String(availableParallelism());
  const targets = [`${name}_target`, "tiny_seeds"];
  run("cmake", ["--build", BUILD, "--target", ...targets, "--parallel", jobs]);
  const seeds = path.join(SCRATCH, name, "seeds");
  const dictionary = path.join(SCRATCH, name, "dictionary");
  writeSeeds(name, seeds);
  writeDictionary(name, dictionary);
  run(path.join(BUILD, "tiny_seeds"), [path.join(SCRATCH, "tiny")]);
  const tiny = path.join(SCRATCH, "tiny", name);
  const tinyPasses = existsSync(tiny) ? [{ seeds: tiny, maxBytes: MAX_TINY_BYTES }] : [];
  const passes = [...tinyPasses, { seeds, maxBytes: MAX_INPUT_BYTES }];
  for (const pass of passes) fuzz(name, dictionary, pass, Math.ceil(seconds / passes.length));
}

/** Each pass has a corpus of its own: what one found would be cut in a shorter one. */
function fuzz(name, dictionary, { seeds, maxBytes }, passSeconds) {
  const corpus = path.join(SCRATCH, name, `corpus-${maxBytes}`);
  mkdirSync(corpus, { recursive: true });
  run(path.join(BUILD, `${name}_target`), [
    corpus,
    seeds,
    `-dict=${dictionary}`,
    `-max_total_time=${passSeconds}`,
    `-max_len=${maxBytes}`,
    `-artifact_prefix=${path.join(SCRATCH, name)}/`,
    "-timeout=60",
    "-rss_limit_mb=4096",
    "-detect_leaks=0", // after each input it would take most of the time; at the end it still happens
    "-print_final_stats=1",
  ]);
}

function runScript(name, args) {
  run(process.execPath, ["--import", "tsx", path.join(import.meta.dirname, name), ...args]);
}
