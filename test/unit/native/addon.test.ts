import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GREEDY } from "../../../src/engine/native-engine.ts";
import type {
  EngineOptions,
  IsaLevel,
  NativeAddon,
  NativeEngine,
  NativeRequest,
  RequestId,
  SequenceId,
  StepEvents,
} from "../../../src/native/addon-types.ts";
import { ENGINE_ERROR_CODES, engineFailure } from "../../../src/native/engine-errors.ts";
import { loadAddon } from "../../../src/native/load-addon.ts";
import { ENDLESS_KV_BYTES, ENDLESS_TOKENS, writeEndlessModel } from "../../endless-model.ts";
import { TINY_MODEL } from "../../fixture-models.ts";

const ENGINE_OPTIONS: EngineOptions = {
  modelPath: TINY_MODEL,
  threads: 1,
  isa: "auto",
  activations: "wide",
  quantize: "none",
  kvType: "f16",
  kvMemoryBytes: 4 * 1024 * 1024,
  maxContextTokens: 64,
  maxBatchTokens: 64,
  maxRunning: 4,
  maxQueued: 8,
  maxPrefillChunk: 0,
  enablePrefixCache: true,
};

function makeRequest(fields: Partial<NativeRequest> = {}): NativeRequest {
  return {
    tokens: Int32Array.of(1, 20, 30),
    tenantSalt: "",
    maxOutputTokens: 4,
    stopTokenIds: new Int32Array(),
    keepSequence: false,
    prefillOnly: false,
    logits: "none",
    jumpForward: true,
    ...GREEDY,
    ...fields,
  };
}

function detached(): Int32Array {
  const array = new Int32Array(4);
  structuredClone(array, { transfer: [array.buffer] });
  return array;
}

/** The thrown error's code and message. */
function thrownBy(call: () => unknown): { code: unknown; message: string } {
  try {
    call();
  } catch (error) {
    return { code: (error as { code?: unknown }).code, message: (error as Error).message };
  }
  throw new Error("nothing was thrown");
}

const addon: NativeAddon = loadAddon();

test("the native error codes are those of the TypeScript union", () => {
  expect([...addon.errorCodes].toSorted()).toEqual([...ENGINE_ERROR_CODES].toSorted());
});

test("the probe names the CPU and lists the reference level first", () => {
  const [cpu] = addon.probeDevices();
  expect(cpu).toMatchObject({ kind: "cpu" });
  expect(cpu?.isaLevels[0]).toBe("ref");
  expect(cpu?.cores).toBeGreaterThan(0);
});

describe("inspectModel", () => {
  test("reads a model's configuration and metadata", () => {
    const inspection = addon.inspectModel(TINY_MODEL);
    expect(inspection).toMatchObject({ container: "gguf", arch: "llama", vocab: 512 });
    expect(inspection.metadata["tokenizer.ggml.tokens"]).toHaveLength(512);
    expect(inspection.tensors.length).toBeGreaterThan(0);
    expect(inspection.refusals).toEqual([]);
  });

  test.each([[undefined], [5], [""], ["a\0b"], [{}]])("refuses %j as a path", (path) => {
    const { code } = thrownBy(() => addon.inspectModel(path as string));
    expect(code).toBe("ERR_INVALID_ARGUMENT");
  });

  test("a file that is no model is an error with a code", () => {
    expect(thrownBy(() => addon.inspectModel("/nonexistent.gguf")).code).toBe("ERR_MODEL_FILE");
    expect(thrownBy(() => addon.inspectModel(import.meta.filename)).code).toMatch(/^ERR_MODEL_/);
  });
});

describe("minKvBytes", () => {
  const needs = { modelPath: TINY_MODEL, kvType: "f32", maxBatchTokens: 128 } as const;

  test("is what an engine needs to take such a context, and no byte more", async () => {
    const kvMemoryBytes = addon.minKvBytes({ ...needs, maxContextTokens: 300 });
    const open = (bytes: number) =>
      addon.openEngine(
        { ...ENGINE_OPTIONS, ...needs, maxContextTokens: 300, kvMemoryBytes: bytes },
        () => undefined,
      );
    const engine = await open(kvMemoryBytes);
    expect(engine.info.context).toBe(300);
    await engine.close();
    await expect(open(kvMemoryBytes - 1)).rejects.toMatchObject({ code: "ERR_MODEL_MEMORY" });
  });

  test("a context that the model does not take is refused", () => {
    const { code } = thrownBy(() => addon.minKvBytes({ ...needs, maxContextTokens: 513 }));
    expect(code).toBe("ERR_INVALID_ARGUMENT");
  });
});

describe("openEngine", () => {
  const wrong: [string, unknown][] = [
    ["modelPath", 5],
    ["modelPath", ""],
    ["threads", 0],
    ["threads", 1.5],
    ["threads", Number.NaN],
    ["threads", "2"],
    ["isa", "sse"],
    ["isa", undefined],
    ["activations", 8],
    ["quantize", "q6_k"],
    ["kvType", "q4_0"],
    ["kvMemoryBytes", -1],
    ["kvMemoryBytes", Number.POSITIVE_INFINITY],
    ["kvMemoryBytes", 10n],
    ["maxContextTokens", 2 ** 31],
    ["maxBatchTokens", 0],
    ["maxRunning", null],
    ["maxQueued", {}],
    ["maxPrefillChunk", -1],
    ["enablePrefixCache", 1],
  ];
  test.each(wrong)("rejects a wrong %s by name (case %#)", async (field, value) => {
    const options = { ...ENGINE_OPTIONS, [field]: value } as EngineOptions;
    const error = await addon
      .openEngine(options, () => undefined)
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({
      code: "ERR_INVALID_ARGUMENT",
      message: expect.stringContaining(`ERR_INVALID_ARGUMENT: ${field} must be`) as string,
    });
  });

  const levels: Record<IsaLevel, true> = { ref: true, avx2: true, avx512: true, amx: true };
  test.each(Object.keys(levels) as IsaLevel[])(
    "opens at level %s, or tells the levels of this CPU",
    async (isa) => {
      const here = addon.probeDevices()[0]?.isaLevels ?? [];
      const opening = addon.openEngine({ ...ENGINE_OPTIONS, isa }, () => undefined);
      if (here.includes(isa)) {
        const engine = await opening;
        expect(engine.info.isa).toBe(isa);
        await engine.close();
      } else {
        await expect(opening).rejects.toThrow(`this CPU has ${here.join(", ")}`);
      }
    },
  );

  test.each([[undefined], [null], [7]])("rejects %j as options", async (options) => {
    const opening = addon.openEngine(options as unknown as EngineOptions, () => undefined);
    await expect(opening).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
  });

  test("rejects a listener that is no function", async () => {
    const opening = addon.openEngine(ENGINE_OPTIONS, 5 as unknown as () => void);
    await expect(opening).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
  });

  test("rejects a missing file with a code and with the stack of the call", async () => {
    const options = { ...ENGINE_OPTIONS, modelPath: "/nonexistent.gguf" };
    const error = await addon
      .openEngine(options, () => undefined)
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "ERR_MODEL_FILE" });
    expect((error as Error).stack).toContain("addon.test.ts");
    expect(engineFailure(error).message).not.toContain("ERR_MODEL_FILE");
  });
});

describe("an open engine", () => {
  const steps: StepEvents[] = [];
  let engine: NativeEngine;
  beforeAll(async () => {
    engine = await addon.openEngine(ENGINE_OPTIONS, (step) => steps.push(step));
  });
  afterAll(() => engine.close());

  const wrong: [string, unknown][] = [
    ["tokens", [1, 2]],
    ["tokens", Uint32Array.of(1)],
    ["tokens", detached()],
    ["tokens", undefined],
    ["tenantSalt", 5],
    ["tenantSalt", "x".repeat(100_000)],
    ["maxOutputTokens", -1],
    ["maxOutputTokens", 2.5],
    ["maxOutputTokens", 2 ** 40],
    ["stopTokenIds", new Float32Array(1)],
    ["keepSequence", "yes"],
    ["prefillOnly", undefined],
    ["logits", "some"],
    ["temperature", Number.NaN],
    ["temperature", "1"],
    ["topK", 0.5],
    ["topP", null],
    ["minP", Number.NEGATIVE_INFINITY],
    ["repetitionPenalty", {}],
    ["frequencyPenalty", true],
    ["presencePenalty", undefined],
    ["seed", -1],
    ["seed", 2 ** 53],
  ];
  test.each(wrong)("submit refuses a wrong %s by name (case %#)", (field, value) => {
    const request = makeRequest({ [field]: value });
    const { code, message } = thrownBy(() => engine.submit(request));
    expect(code).toBe("ERR_INVALID_ARGUMENT");
    expect(message).toContain(`${field} must be`);
  });

  test.each([[undefined], [-1], [1.5], ["1"], [2 ** 32], [Number.NaN]])("ids refuse %s", (id) => {
    for (const call of [
      () => engine.fork(id as SequenceId),
      () => engine.release(id as SequenceId),
      () => engine.abort(id as RequestId),
      () => engine.continueSequence(id as SequenceId, makeRequest()),
    ]) {
      expect(thrownBy(call).code).toBe("ERR_INVALID_ARGUMENT");
    }
  });

  test.each([[-1], [1.5], ["1"], [2 ** 31], [null]])("a fork refuses %s tokens", (count) => {
    const { code, message } = thrownBy(() => engine.fork(1 as SequenceId, count as number));
    expect(code).toBe("ERR_INVALID_ARGUMENT");
    expect(message).toContain("number of tokens must be");
  });

  test("the engine's own limits are errors with codes", () => {
    const tooLong = makeRequest({ tokens: new Int32Array(65).fill(5) });
    expect(thrownBy(() => engine.submit(tooLong)).code).toBe("ERR_CONTEXT_TOO_LONG");
    const unknownToken = makeRequest({ tokens: Int32Array.of(1, 100_000) });
    expect(thrownBy(() => engine.submit(unknownToken)).code).toBe("ERR_INVALID_ARGUMENT");
    const empty = makeRequest({ tokens: new Int32Array() });
    expect(thrownBy(() => engine.submit(empty)).code).toBe("ERR_INVALID_ARGUMENT");
    const unknownSequence = () => engine.continueSequence(999 as SequenceId, makeRequest());
    expect(thrownBy(unknownSequence).code).toBe("ERR_SEQUENCE_RELEASED");
  });

  test("a getter that throws reaches the caller as it is", () => {
    const request = Object.defineProperty({ ...makeRequest() }, "tokens", {
      get: () => {
        throw new RangeError("from the getter");
      },
    });
    expect(() => engine.submit(request as NativeRequest)).toThrow(RangeError);
  });

  test("functions do not need the engine as their receiver", () => {
    const { stats, abort } = engine;
    expect(stats().blockSize).toBe(16);
    expect(() => abort.call("not an engine" as never, 12345 as RequestId)).not.toThrow();
  });

  test("what was submitted is copied: changing the array later changes nothing", async () => {
    const first = await tokensOf(makeRequest());
    const request = makeRequest();
    const second = tokensOf(request);
    request.tokens.fill(7);
    expect(await second).toEqual(first);
  });

  /** Runs a request on the shared engine and gives its tokens. */
  function tokensOf(request: NativeRequest): Promise<number[]> {
    const id = engine.submit(request);
    return new Promise((resolve) => {
      const look = () => {
        const found = eventsOf(id);
        if (found.isFinished) resolve(found.tokens);
        else setImmediate(look);
      };
      look();
    });
  }

  function eventsOf(id: RequestId): { tokens: number[]; isFinished: boolean } {
    const tokens: number[] = [];
    let isFinished = false;
    for (const step of steps) {
      const i = step.requestIds.indexOf(id);
      for (let j = i; j >= 0 && j < step.requestIds.length; j++) {
        if (step.requestIds[j] !== id) continue;
        tokens.push(...step.tokens.subarray(step.tokenStart[j], step.tokenStart[j + 1]));
        isFinished ||= step.finish[j] !== 0;
      }
    }
    return { tokens, isFinished };
  }
});

test("close is idempotent, ends open requests and makes every later call an error", async () => {
  const finishes: number[] = [];
  const codes: (string | undefined)[] = [];
  const options = {
    ...ENGINE_OPTIONS,
    modelPath: writeEndlessModel(),
    maxContextTokens: 0,
    kvMemoryBytes: ENDLESS_KV_BYTES,
  };
  const engine = await addon.openEngine(options, (step) => {
    step.finish.forEach((finish, i) => {
      if (finish === 0) return;
      finishes.push(finish);
      codes.push(addon.errorCodes[step.errorCode[i] as number]);
    });
  });
  engine.submit(makeRequest({ maxOutputTokens: ENDLESS_TOKENS }));
  engine.submit(makeRequest({ maxOutputTokens: ENDLESS_TOKENS }));
  await Promise.all([engine.close(), engine.close()]);
  await engine.close();
  expect(finishes).toEqual([4, 4]);
  expect(codes).toEqual(["ERR_ENGINE_CLOSED", "ERR_ENGINE_CLOSED"]);
  for (const call of [
    () => engine.submit(makeRequest()),
    () => engine.continueSequence(1 as SequenceId, makeRequest()),
    () => engine.fork(1 as SequenceId),
    () => engine.release(1 as SequenceId),
    () => engine.abort(1 as RequestId),
    () => engine.stats(),
  ]) {
    expect(thrownBy(call).code).toBe("ERR_ENGINE_CLOSED");
  }
});
