/** What setup.mjs says on machines that lack something: a copy of it with a PATH of our own. */
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "./cli-process.ts";

/** A fresh clone as far as set-up looks, and an empty folder as PATH. */
function makeClone(): { root: string; bin: string } {
  const root = mkdtempSync(path.join(tmpdir(), "warmloop-clone-"));
  for (const file of ["setup.mjs", "package.json", "package-lock.json", "tsconfig.json"]) {
    copyFileSync(path.join(ROOT, file), path.join(root, file));
  }
  for (const folder of ["native", "src", "test/native", "bin"]) {
    mkdirSync(path.join(root, folder), { recursive: true });
  }
  return { root, bin: path.join(root, "bin") };
}

function addTool(bin: string, name: string, script: string): void {
  const file = path.join(bin, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

function addBuildTools(bin: string): void {
  addTool(bin, "cmake", "echo cmake version 3.25.1");
  addTool(bin, "make", "echo GNU Make 4.3");
}

function runSetup(root: string, bin: string, nodeArgs: readonly string[] = []) {
  const env = { PATH: bin, HOME: root };
  const result = spawnSync(process.execPath, [...nodeArgs, path.join(root, "setup.mjs")], {
    cwd: root,
    encoding: "utf8",
    env,
  });
  return { exitCode: result.status, stderr: result.stderr };
}

describe("set-up names what is missing", () => {
  test("no cmake: 4, and its package", () => {
    const { root, bin } = makeClone();
    const { exitCode, stderr } = runSetup(root, bin);
    expect(stderr).toMatch(/^setup: cmake is missing: .*Debian package cmake\)\n$/);
    expect(exitCode).toBe(4);
  });

  test("a cmake that is too old: 4", () => {
    const { root, bin } = makeClone();
    addTool(bin, "cmake", "echo cmake version 3.18.4");
    const { exitCode, stderr } = runSetup(root, bin);
    expect(stderr).toContain("CMake 3.18 is too old");
    expect(exitCode).toBe(4);
  });

  test("no compiler: 4, and its package", () => {
    const { root, bin } = makeClone();
    addBuildTools(bin);
    const { exitCode, stderr } = runSetup(root, bin);
    expect(stderr).toMatch(/^setup: a C\+\+ compiler is missing: .*Debian package g\+\+\)\n$/);
    expect(exitCode).toBe(4);
  });

  test("a compiler without C++20: 4, with what it said", () => {
    const { root, bin } = makeClone();
    addBuildTools(bin);
    addTool(
      bin,
      "g++",
      '[ "$1" = --version ] && echo g++ 6.3 && exit 0; echo "error: what is c++20" >&2; exit 1',
    );
    const { exitCode, stderr } = runSetup(root, bin);
    expect(stderr).toMatch(/g\+\+ cannot build a C\+\+20 program: .*what is c\+\+20/);
    expect(exitCode).toBe(4);
  });

  test("packages that cannot be fetched: 5", () => {
    const { root, bin } = makeClone();
    addBuildTools(bin);
    addTool(bin, "c++", "echo g++ 12.2");
    addTool(bin, "npm", "exit 1");
    const { exitCode, stderr } = runSetup(root, bin);
    expect(stderr).toMatch(/npm ci failed .*check the network/);
    expect(exitCode).toBe(5);
  });

  test("a Node that is too old: 1, and which is needed", () => {
    const { root, bin } = makeClone();
    const fake =
      'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"18.20.4"}})';
    const { exitCode, stderr } = runSetup(root, bin, ["--import", fake]);
    expect(stderr).toMatch(/^setup: Node 18\.20\.4 is too old: .*20\.19/);
    expect(exitCode).toBe(1);
  });
});
