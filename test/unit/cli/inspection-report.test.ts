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

  test("is printed one fact a line", () => {
    const lines = describeReport(report);
    expect(lines).toContainEqual(expect.stringMatching(/^architecture: +llama$/));
    expect(lines).toContainEqual(expect.stringMatching(/^tensors: .*F16 .*KiB/));
    expect(lines).not.toContainEqual(expect.stringMatching(/^refused/));
  });
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
