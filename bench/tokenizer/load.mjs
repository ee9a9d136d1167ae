/**
 * `node load.mjs ours|peer FILE`: the CPU seconds of a fresh process from the file to a usable
 * tokenizer. A process loads a file once: who opens it again shares what is there. FILE is, for the
 * peer, a tokenizer.json; for ours, its folder or a GGUF file.
 */
import { readFileSync } from "node:fs";
import { loadAddon } from "../../dist/native/load-addon.js";
import { libraryDefinition } from "../../dist/text/library-definition.js";
import { LibraryModelTokenizer } from "../../dist/text/library-tokenizer.js";

const NO_FILES = {};

const loaders = {
  ours: (file) => addon.openTokenizer(file),
  peer: (file) => {
    const json = JSON.parse(readFileSync(file, "utf8"));
    return new LibraryModelTokenizer(libraryDefinition(json), NO_FILES);
  },
};

const [engine, file] = process.argv.slice(2);
const addon = loadAddon();
const before = process.cpuUsage();
loaders[engine](file);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1e6);
