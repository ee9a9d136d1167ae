/** Inspections to build text models from: of real files, by the addon, and of files made up here. */

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import type { ModelInspection } from "../../../src/native/addon-types.ts";
import { loadAddon } from "../../../src/native/load-addon.ts";
import { loadTextModel } from "../../../src/text/load-text-model.ts";
import type { TextModel } from "../../../src/text/text-types.ts";
import { type GgufMetadata, ggufBytes } from "./gguf-writer.ts";

const folder = mkdtempSync(path.join(tmpdir(), "warmloop-text-"));
let numFiles = 0;

export function inspectFile(file: string): ModelInspection {
  return loadAddon().inspectModel(file);
}

/** Of a GGUF file, which may lie gzip'd. */
export function loadGguf(file: string): TextModel {
  const plain = file.endsWith(".gz") ? unpack(file) : file;
  return loadTextModel(plain, inspectFile(plain));
}

/** Of a file without tensors. */
export function loadGgufOf(metadata: GgufMetadata): TextModel {
  return loadGguf(writeFile("made-up.gguf", ggufBytes(metadata)));
}

function unpack(packedFile: string): string {
  return writeFile(path.basename(packedFile, ".gz"), gunzipSync(readFileSync(packedFile)));
}

function writeFile(name: string, bytes: Uint8Array): string {
  const file = path.join(folder, `${numFiles++}-${name}`);
  writeFileSync(file, bytes);
  return file;
}

export function makeInspection(fields: Partial<ModelInspection>): ModelInspection {
  return {
    container: "safetensors",
    arch: "llama",
    context: 512,
    numLayers: 1,
    hidden: 64,
    ffn: 64,
    numHeads: 1,
    numKvHeads: 1,
    headDim: 64,
    vocab: 512,
    weightBytes: 0,
    kvCosts: [],
    tensors: [],
    metadata: {},
    slidingWindow: 0,
    numSlidingLayers: 0,
    ropeScaling: "none",
    numExperts: 0,
    numExpertsUsed: 0,
    refusals: [],
    ...fields,
  };
}
