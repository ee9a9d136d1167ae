/**
 * The arrows between folders. A wrong import or include fails here; a new edge is one line in a
 * table below, with its reason.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "..");
const MAX_FILE_LINES = 600;

/** `folder (types)` allows `import type` only; `folder/file.ts` allows that one file. */
const TS_ARROWS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  config: ["base"],
  metrics: ["base", "config (types)"],
  protocol: ["base"],
  native: ["base"],
  text: ["native", "base", "metrics", "config (types)"],
  models: ["native", "base", "metrics", "config (types)"],
  engine: ["native", "text", "models", "base", "metrics", "config (types)"],
  // endpoint.ts holds the types of the engine, and the error class that travels with them.
  router: ["engine (types)", "engine/endpoint.ts", "base", "metrics", "config (types)"],
  safety: ["protocol", "engine (types)", "engine/endpoint.ts", "base", "metrics", "config (types)"],
  session: [
    "text",
    "protocol",
    "router",
    "safety",
    "engine (types)",
    "engine/endpoint.ts",
    "base",
    "metrics",
    "config (types)",
  ],
  gateway: ["session", "protocol", "base", "metrics", "config (types)"],
  harness: ["protocol", "base", "metrics", "config (types)"],
  cluster: ["engine (types)", "engine/endpoint.ts", "protocol", "base", "metrics"],
};
/** Wires the concrete parts. */
const TS_IMPORTS_ALL = "cli";

const CPP_ARROWS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  kv: ["base"],
  quant: ["base"],
  tokenizer: ["loader", "base"],
  backend: ["base"],
  "backend/registry.cpp": ["cpu", "cuda"],
  loader: ["quant", "base"],
  models: ["loader", "quant", "backend", "base"],
  sampling: ["backend", "base"],
  grammar: ["backend", "tokenizer", "base"],
  spec: ["sampling", "models", "kv", "backend", "base"],
  cpu: ["backend", "quant", "base"],
  cuda: ["backend", "quant", "base"],
  engine: ["spec", "sampling", "grammar", "kv", "models", "backend", "base"],
  // From a path to a running engine: opens the checkpoint, so it names the loader.
  "engine/open_engine.cpp": ["loader"],
  // models: inspection, which reads a model's configuration without opening an engine.
  // grammar: compiled grammars are handles of their own, which requests name.
  addon: ["engine", "grammar", "tokenizer", "loader", "models", "backend", "base"],
};

const parsedFiles = new Map<string, ts.SourceFile>();
const tsFiles = filesBelow("src", [".ts"]);
const cppFiles = filesBelow("native", [".h", ".cpp", ".cu", ".cuh"]).filter(
  (file) => !file.startsWith("native/build"),
);

describe("TypeScript", () => {
  test("imports follow the arrows", () => {
    const wrong = tsFiles.flatMap((file) =>
      importsOf(file)
        .filter((link) => !isAllowedImport(file, link))
        .map((link) => `${file} imports ${link.target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("there are no cycles of imports", () => {
    expect(findCycle(tsFiles)).toBeUndefined();
  });

  test("only src/config reads the environment and the command line", () => {
    const readers = tsFiles.filter((file) => readsProcessInputs(parse(file)));
    expect(readers.filter((file) => folderOf(file) !== "config")).toEqual([]);
  });

  test("there are no default exports, barrels or imports for side effects", () => {
    const wrong = tsFiles.flatMap((file) =>
      parse(file)
        .statements.filter((statement) => isForbiddenStatement(statement))
        .map((statement) => `${file}: ${statement.getText().split("\n")[0]}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("C++", () => {
  test("includes follow the arrows", () => {
    const wrong = cppFiles.flatMap((file) =>
      includesOf(file, /^#include "([^"]+)"/gm)
        .filter((include) => !isAllowedInclude(file, include))
        .map((include) => `${file} includes ${include}`),
    );
    expect(wrong).toEqual([]);
  });

  test("only the addon includes napi.h", () => {
    const users = cppFiles.filter((file) => /^#include [<"](napi|node_api)/m.test(read(file)));
    expect(users.filter((file) => !file.startsWith("native/addon/"))).toEqual([]);
  });

  test("only the folders of an instruction set include intrinsics", () => {
    const users = cppFiles.filter((file) => /^#include <\w*intrin\.h>/m.test(read(file)));
    expect(users.filter((file) => !/^native\/cpu\/(avx2|avx512|amx)\//.test(file))).toEqual([]);
  });

  test("kernels of an instruction set use no C++ library", () => {
    // The linker could keep their wider copy of an inline std:: function for the whole program.
    const kernels = cppFiles.filter((file) => /^native\/cpu\/(avx2|avx512|amx)\//.test(file));
    const wrong = kernels.flatMap((file) =>
      includesOf(file, /^#include <([^>]+)>/gm)
        .filter((header) => !header.endsWith(".h") && !/^c[a-z]+$/.test(header))
        .map((header) => `${file} includes <${header}>`),
    );
    expect(wrong).toEqual([]);
  });
});

test(`no file has more than ${MAX_FILE_LINES} lines`, () => {
  const all = [...tsFiles, ...cppFiles, ...filesBelow("test", [".ts", ".cpp", ".h"])];
  const long = all.filter((file) => read(file).split("\n").length > MAX_FILE_LINES);
  expect(long).toEqual([]);
});

interface Link {
  /** Path from the root. */
  readonly target: string;
  readonly isTypeOnly: boolean;
}

function isAllowedImport(file: string, { target, isTypeOnly }: Link): boolean {
  const [from, to] = [folderOf(file), folderOf(target)];
  if (from === to || from === TS_IMPORTS_ALL) return true;
  const arrows = TS_ARROWS[from] ?? [];
  return (
    arrows.includes(to) ||
    arrows.includes(target.slice("src/".length)) ||
    (isTypeOnly && arrows.includes(`${to} (types)`))
  );
}

function isAllowedInclude(file: string, include: string): boolean {
  const [from, to] = [folderOf(file), include.split("/")[0] ?? ""];
  const ofFile = CPP_ARROWS[file.slice("native/".length)] ?? [];
  return from === to || [...(CPP_ARROWS[from] ?? []), ...ofFile].includes(to);
}

/** Imports and re-exports of our own files. */
function importsOf(file: string): Link[] {
  return parse(file).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const name = statement.moduleSpecifier;
    if (name === undefined || !ts.isStringLiteral(name) || !name.text.startsWith(".")) return [];
    const isTypeOnly = ts.isImportDeclaration(statement)
      ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : statement.isTypeOnly;
    return [{ target: path.join(path.dirname(file), name.text), isTypeOnly }];
  });
}

function isForbiddenStatement(statement: ts.Statement): boolean {
  if (ts.isExportAssignment(statement)) return true;
  if (ts.isExportDeclaration(statement)) return statement.exportClause === undefined;
  if (ts.isImportDeclaration(statement)) return statement.importClause === undefined;
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
}

function readsProcessInputs(node: ts.Node): boolean {
  const isRead =
    ts.isPropertyAccessExpression(node) && /^process\.(env|argv)$/.test(node.getText());
  return isRead || node.getChildren().some(readsProcessInputs);
}

/** Files of one cycle of imports that load code, if there is one. */
function findCycle(files: readonly string[]): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const { target, isTypeOnly } of importsOf(file)) {
      const cycle = isTypeOnly ? undefined : visit(target, [...trail, file]);
      if (cycle !== undefined) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of files) {
    const cycle = visit(file, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

function includesOf(file: string, pattern: RegExp): string[] {
  return [...read(file).matchAll(pattern)].map((match) => match[1] ?? "");
}

/** `src/text/x.ts` -> `text`, `native/cpu/ref/x.cpp` -> `cpu`. */
function folderOf(file: string): string {
  return file.split("/")[1] ?? "";
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), "utf8");
}

function parse(file: string): ts.SourceFile {
  const known = parsedFiles.get(file);
  if (known !== undefined) return known;
  const parsed = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  parsedFiles.set(file, parsed);
  return parsed;
}

function filesBelow(folder: string, endings: readonly string[]): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => endings.some((ending) => file.endsWith(ending)))
    .map((file) => path.join(folder, file))
    .sort();
}
