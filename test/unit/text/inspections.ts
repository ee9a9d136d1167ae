/** Inspections to build text models from: of real files, by the addon, and made up ones. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import type { ModelInspection } from "../../../src/native/addon-types.ts";
import { loadAddon } from "../../../src/native/load-addon.ts";

export function inspectFile(file: string): ModelInspection {
  return loadAddon().inspectModel(file);
}

/** Of a GGUF file that lies gzip'd. */
export function inspectPacked(packedFile: string): ModelInspection {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-text-"));
  try {
    const file = path.join(folder, path.basename(packedFile, ".gz"));
    writeFileSync(file, gunzipSync(readFileSync(packedFile)));
    return inspectFile(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
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
    kvBytesPerToken: 0,
    tensors: [],
    metadata: {},
    ...fields,
  };
}
