import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ExitError } from "../../../src/base/exit-error.ts";
import { describeReport } from "../../../src/cli/describe-report.ts";
import { reportInspection } from "../../../src/cli/inspection-report.ts";
import { TINY_MODEL } from "../../fixture-models.ts";
import { inspectFile } from "../text/inspections.ts";

const inspection = inspectFile(TINY_MODEL);
const tiny = { id: "tiny", path: TINY_MODEL };
const fits = (): void => undefined;

describe("the report of a model that loads", () => {
  const report = reportInspection(tiny, inspection, fits);

  test("has no refusals, and its tensors by type, most bytes first", () => {
    expect(report.refusals).toEqual([]);
    const { types } = report.tensors;
    expect(types.map(({ type }) => type)).toEqual(["F16", "F32"]);
    expect(types.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(report.memory.weightBytes);
  });

  test("has the tokenizer with its ends, and the template's family", () => {
    expect(report.tokenizer).toMatchObject({ kind: "llama", vocabulary: 512 });
    expect(report.tokenizer?.endOfGeneration.length).toBeGreaterThan(0);
  });

  test("has what the KV cache costs with each type", () => {
    const [f16, q8, f32] = report.memory.kv;
    expect([f16?.type, q8?.type, f32?.type]).toEqual(["f16", "q8_0", "f32"]);
    expect(f32?.bytesPer1kTokens).toBe(2 * (f16?.bytesPer1kTokens ?? 0));
    expect(q8?.bytesPer1kTokens).toBeLessThan(f16?.bytesPer1kTokens ?? 0);
  });

  test("is printed one fact a line", () => {
    const lines = describeReport(report);
    expect(lines).toContainEqual(expect.stringMatching(/^architecture: +llama$/));
    expect(lines).toContainEqual(expect.stringMatching(/^tensors: .*F16 .*KiB/));
    expect(lines).not.toContainEqual(expect.stringMatching(/^refused/));
  });
});

test("windows, experts and a scaled rope are told where there are any", () => {
  const special = {
    ...inspection,
    slidingWindow: 128,
    numSlidingLayers: 12,
    ropeScaling: "yarn",
    numExperts: 32,
    numExpertsUsed: 4,
    kvCosts: [{ type: "f16", bytesPerToken: 1024, windowBytes: 3 << 20 }],
  } as const;
  const lines = describeReport(reportInspection(tiny, special, fits));
  expect(lines).toContainEqual(
    expect.stringMatching(/^attention: .*, 12 layers see 128 tokens back, rope scaling yarn$/),
  );
  expect(lines).toContain("experts:       32, 4 for each token");
  expect(lines).toContainEqual(expect.stringMatching(/^KV cache: .* and 3\.0 MiB of windows$/));
  expect(describeReport(reportInspection(tiny, inspection, fits)).join()).not.toMatch(/experts/);
});

test("every reason is told: the engine's, the tokenizer's and the memory's", () => {
  const emptyFolder = mkdtempSync(path.join(tmpdir(), "warmloop-inspect-"));
  const broken = {
    ...inspection,
    container: "safetensors",
    refusals: [{ code: "ERR_MODEL_TENSOR", message: "tensor x is missing" }],
  } as const;
  const report = reportInspection({ id: "broken", path: emptyFolder }, broken, () => {
    throw new ExitError("modelFile", "not enough memory");
  });
  expect(report.refusals.map(({ code }) => code)).toEqual([
    "ERR_MODEL_TENSOR",
    "ERR_TOKENIZER_FORMAT",
    "ERR_MODEL_MEMORY",
  ]);
  expect(report.tokenizer).toBeUndefined();
  expect(describeReport(report).filter((line) => line.startsWith("refused")).length).toBe(3);
});

test("the file's own licence wins over the manifest's", () => {
  const known = { ...tiny, license: "from the manifest" };
  expect(reportInspection(known, inspection, fits).license).toBe("mit");
  const { "general.license": _license, ...metadata } = inspection.metadata;
  const silent = { ...inspection, metadata };
  expect(reportInspection(known, silent, fits).license).toBe("from the manifest");
});
