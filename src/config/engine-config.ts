import { type ConfigOf, integer, onOff, oneOf, option, size } from "./option.ts";

const MIB = 2 ** 20;
const kvSize = size(MIB, "1MiB");

export const ENGINE_OPTIONS = {
  maxContextTokens: option<number | undefined>({
    flag: "ctx",
    placeholder: "N",
    meaning: "longest prompt and output together, tokens",
    defaultText: "the model's",
    default: undefined,
    parse: integer(16, 2 ** 24), // less than a KV block, or more than any model has, is a slip
  }),
  kvMemoryBytes: option<number | "auto">({
    flag: "kv-memory",
    placeholder: "SIZE",
    meaning: "memory of each engine's KV cache",
    defaultText: "1GiB, more where --ctx needs it, less where memory is short",
    default: "auto",
    parse: (value) => (value === "auto" ? value : kvSize(value)),
  }),
  kvType: option<"f16" | "q8_0" | "f32">({
    flag: "kv-type",
    placeholder: "f16|q8_0|f32",
    meaning: "number format of the KV cache: q8_0 takes 9 bits a value and is less exact",
    default: "f16",
    parse: oneOf(["f16", "q8_0", "f32"]),
  }),
  threads: option<number>({
    flag: "threads",
    placeholder: "N",
    meaning: "kernel threads of each engine",
    defaultText: "the CPUs this process may use",
    default: (machine) => Math.max(1, Math.floor(machine.cpus)),
    parse: integer(1, 1024),
  }),
  numEngines: option<number>({
    flag: "engines",
    placeholder: "N",
    meaning: "engines, each with its own worker thread and KV cache; weights are shared",
    default: 1,
    parse: integer(1, 64),
  }),
  isa: option<"auto" | "ref" | "avx2" | "avx512" | "amx">({
    flag: "isa",
    placeholder: "auto|ref|avx2|avx512|amx",
    meaning: "instruction set of the kernels; auto is the fastest one",
    default: "auto",
    parse: oneOf(["auto", "ref", "avx2", "avx512", "amx"]),
  }),
  activations: option<"wide" | "8" | "float">({
    flag: "activations",
    placeholder: "wide|8|float",
    meaning:
      "width of activations in quantized products: 15 bits, 8 bits (less exact) or float32 (slow)",
    default: "wide",
    parse: oneOf(["wide", "8", "float"]),
  }),
  quantize: option<"none" | "q8_0" | "q4_0" | "q4_k">({
    flag: "quantize",
    placeholder: "none|q8_0|q4_0|q4_k",
    meaning: "quantize an F32, F16 or BF16 model while it loads; embedding and head get q8_0",
    default: "none",
    parse: oneOf(["none", "q8_0", "q4_0", "q4_k"]),
  }),
  maxBatchTokens: option<number>({
    flag: "max-batch-tokens",
    placeholder: "N",
    meaning: "tokens of one engine step, over all its requests",
    // Other streams, aborts and a shutdown wait for the step that runs: about a second on two cores.
    // Larger steps did not prefill faster (512: 109 tokens/s, 128: 106, in one run).
    default: 128,
    parse: integer(1, 65536),
  }),
  maxPrefillChunk: option<number>({
    flag: "max-prefill-chunk",
    placeholder: "N",
    meaning: "largest share of one step for one prompt, tokens; 0 is the whole step",
    default: 0,
    parse: integer(0, 65536),
  }),
  maxRunning: option<number>({
    flag: "max-running",
    placeholder: "N",
    meaning: "requests that one engine computes at a time",
    default: 16,
    parse: integer(1, 1024),
  }),
  maxQueued: option<number>({
    flag: "max-queued",
    placeholder: "N",
    meaning: "requests that may wait for an engine; more are answered 429",
    default: 1024,
    parse: integer(1, 1_000_000),
  }),
  enablePrefixCache: option<boolean>({
    flag: "prefix-cache",
    placeholder: "on|off",
    meaning: "reuse the KV of equal prompt beginnings",
    defaultText: "on",
    default: true,
    parse: onOff,
  }),
  keepsLiveSequences: option<boolean>({
    flag: "live-sequences",
    placeholder: "on|off",
    meaning: "keep the sequence of a turn open for the turn that continues it",
    defaultText: "on",
    default: true,
    parse: onOff,
  }),
} as const;

export type EngineConfig = ConfigOf<typeof ENGINE_OPTIONS>;
