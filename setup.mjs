// Everything a fresh clone needs before `npm start` or, with --dev, `npm test`: checks the machine,
// then npm ci -> addon -> tsc, each skipped while its stamp says that nothing changed. A stamp lies
// inside the folder it vouches for, so deleting that folder repairs everything.
// Uses Node's own modules only: nothing is installed yet when it runs. It does not see the flags of
// the server and fetches no model; `warmloop serve` does both.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const EXIT = { other: 1, build: 4, download: 5 };
const MIB = 2 ** 20;
const NEEDED_NODE = [20, 19];
const NEEDED_CMAKE = [3, 22];
const NEEDED_DISK_MIB = { start: 400, dev: 900 }; // node_modules, native/build and dist, with room

const root = path.dirname(fileURLToPath(import.meta.url)); // import.meta.dirname is absent before Node 20.11
const at = (...parts) => path.join(root, ...parts);
const isDev = process.argv.includes("--dev");
// The C++ tests build in the addon's tree, so that the core library is compiled once.
const env = isDev ? { ...process.env, WL_CMAKE_WL_TESTS: "ON" } : process.env;

function fail(exitCode, message) {
  console.error(`setup: ${message}`);
  process.exit(exitCode);
}

const buildFailure = () => ({ exitCode: EXIT.build, advice: "the messages above say why" });

/** Runs a step with its output shown. `explain` is asked what a failure means. */
function run(what, command, args, explain) {
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", env });
  if (result.status === 0) return;
  const { exitCode, advice } = explain();
  const reason = result.error?.message ?? `exit ${result.status ?? result.signal}`;
  fail(exitCode, `${what} failed (${reason}); ${advice}`);
}

// ---- Checks ----

const isAtLeast = (version, needed) =>
  version[0] > needed[0] || (version[0] === needed[0] && version[1] >= needed[1]);

function versionOf(command) {
  const result = spawnSync(command, ["--version"], { encoding: "utf8" });
  return result.status === 0
    ? result.stdout
        .match(/(\d+)\.(\d+)/)
        ?.slice(1)
        .map(Number)
    : undefined;
}

function checkNode() {
  const version = process.versions.node.split(".").map(Number);
  if (isAtLeast(version, NEEDED_NODE)) return;
  fail(
    EXIT.other,
    `Node ${process.versions.node} is too old: warmloop needs Node ${NEEDED_NODE.join(".")} or newer ` +
      "(Debian package nodejs, or https://nodejs.org)",
  );
}

function checkCmake() {
  const version = versionOf("cmake");
  const needed = NEEDED_CMAKE.join(".");
  if (version === undefined) {
    fail(EXIT.build, `cmake is missing: install CMake ${needed} or newer (Debian package cmake)`);
  }
  if (!isAtLeast(version, NEEDED_CMAKE)) {
    fail(
      EXIT.build,
      `CMake ${version.join(".")} is too old: ${needed} or newer (Debian package cmake)`,
    );
  }
  const make = ["make", "ninja"].some((tool) => versionOf(tool) !== undefined);
  if (!make) fail(EXIT.build, "make is missing: install it (Debian package make)");
}

/** Compiles and links a program that uses the language and library features the addon needs. */
function checkCompiler() {
  const wanted = process.env.CXX;
  const compiler = (wanted ? [wanted] : ["c++", "g++", "clang++"]).find(versionOf);
  if (compiler === undefined) {
    const missing = wanted ? `the compiler named by CXX (${wanted})` : "a C++ compiler";
    fail(EXIT.build, `${missing} is missing: install g++ 12 or newer (Debian package g++)`);
  }
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-check-"));
  const source = path.join(folder, "check.cpp");
  writeFileSync(
    source,
    "#include <bit>\n#include <span>\n#include <thread>\n" +
      "template <class T> concept Sized = requires(T t) { t.size(); };\n" +
      "int count(Sized auto x) { return int(std::popcount(unsigned(x.size()))); }\n" +
      "int main() { int v[3]; std::jthread t([] {}); return count(std::span(v)) - 2; }\n",
  );
  const args = ["-std=c++20", "-pthread", source, "-o", path.join(folder, "check")];
  const result = spawnSync(compiler, args, { encoding: "utf8" });
  rmSync(folder, { recursive: true, force: true });
  if (result.status === 0) return;
  const said = (result.stderr ?? "").split("\n").find((line) => line.includes("error")) ?? "";
  fail(
    EXIT.build,
    `${compiler} cannot build a C++20 program: install g++ 12 or newer (Debian package g++)` +
      (said && `; it said: ${said.trim()}`),
  );
}

function checkDisk() {
  const { bavail, bsize } = statfsSync(root);
  const freeMib = Math.floor((bavail * bsize) / MIB);
  const neededMib = isDev ? NEEDED_DISK_MIB.dev : NEEDED_DISK_MIB.start;
  if (freeMib >= neededMib) return;
  fail(
    EXIT.build,
    `${root} has ${freeMib} MiB free, set-up needs ${neededMib} MiB: free some disk space`,
  );
}

// ---- Stamps ----

function readStamp(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {}; // absent or damaged: the step runs again and writes it anew
  }
}

/** Hash over path, size and mtime of every file below the given folders and files. */
function sourcesKey(...entries) {
  const hash = createHash("sha256");
  const add = (entry) => {
    const stat = statSync(entry);
    if (!stat.isDirectory()) {
      hash.update(`${path.relative(root, entry)}\0${stat.size}\0${stat.mtimeMs}\n`);
      return;
    }
    for (const name of readdirSync(entry).sort()) {
      if (!name.startsWith("build") || name.includes(".")) add(path.join(entry, name));
    }
  };
  entries.forEach(add);
  return hash.digest("hex");
}

// ---- Steps ----

function installPackages(lock) {
  const explain = () =>
    // npm writes this file once all packages are there; what follows is our own `install` script.
    existsSync(at("node_modules", ".package-lock.json"))
      ? buildFailure()
      : { exitCode: EXIT.download, advice: "check the network and npm's registry setting" };
  const args = ["ci", isDev ? "--include=dev" : "--omit=dev", "--no-audit", "--no-fund"];
  // npm names its own script in npm_execpath; without npm around, take it from PATH.
  const npm = process.env.npm_execpath;
  if (npm) run("npm ci", process.execPath, [npm, ...args], explain);
  else run("npm ci", "npm", args, explain);
  writeFileSync(at("node_modules", ".setup.json"), JSON.stringify({ lock, dev: isDev }));
}

function buildAddon(stamp) {
  run("the addon build", process.execPath, [at("native", "build.mjs")], buildFailure);
  writeFileSync(at("native", "build", ".setup.json"), JSON.stringify(stamp));
}

function compileTypeScript(stamp) {
  // A build-info file without its outputs would make tsc emit nothing.
  if (!existsSync(at("dist", ".tsbuildinfo"))) rmSync(at("dist"), { recursive: true, force: true });
  const tsc = at("node_modules", "typescript", "bin", "tsc");
  run("tsc", process.execPath, [tsc, "-p", "tsconfig.json"], buildFailure);
  writeFileSync(at("dist", ".setup.json"), JSON.stringify(stamp));
}

checkNode();
const lock = createHash("sha256")
  .update(readFileSync(at("package-lock.json")))
  .update(process.version)
  .digest("hex");
const packages = readStamp(at("node_modules", ".setup.json"));
const needsPackages = packages.lock !== lock || (isDev && !packages.dev);

const addon = readStamp(at("native", "build", ".setup.json"));
const addonStamp = {
  sources: sourcesKey(at("native")),
  tests: isDev ? sourcesKey(at("test", "native")) : addon.tests,
};
const needsAddon =
  needsPackages ||
  !existsSync(at("native", "build", "Release", "warmloop.node")) ||
  addon.sources !== addonStamp.sources ||
  addon.tests !== addonStamp.tests;

if (needsPackages || needsAddon) {
  checkCmake();
  checkCompiler();
  checkDisk();
}
if (needsPackages) installPackages(lock);
if (needsAddon) buildAddon(addonStamp); // after `npm ci` a no-op, and right under `ignore-scripts`
const scriptStamp = {
  sources: sourcesKey(at("src"), at("tsconfig.json"), at("package-lock.json")),
};
if (readStamp(at("dist", ".setup.json")).sources !== scriptStamp.sources) {
  compileTypeScript(scriptStamp);
}
