/** What `models inspect` knows of a checkpoint, as data: the form of `--json`. */
import { ExitError } from "../base/exit-error.ts";
import type { MetadataValue, ModelInspection, TensorSummary } from "../native/addon-types.ts";
import { loadTextModel } from "../text/load-text-model.ts";
import { type TemplateFacts, templateFacts } from "../text/template-facts.ts";
import type { Tokenizer } from "../text/text-types.ts";

export interface InspectionReport {
  readonly id: string;
  readonly path: string;
  readonly container: ModelInspection["container"];
  /** Empty when it is not one this build runs. */
  readonly architecture: string;
  readonly license?: string;
  readonly context: number;
  readonly shape: {
    readonly layers: number;
    readonly hidden: number;
    readonly feedForward: number;
    readonly heads: number;
    readonly kvHeads: number;
    readonly headDim: number;
    readonly vocabulary: number;
  };
  readonly features: {
    /** "none", "linear", "llama3", "yarn", "longrope". */
    readonly ropeScaling: string;
    /** Keys that a query of a sliding layer sees, and how many layers slide: 0 without such. */
    readonly slidingWindow: number;
    readonly slidingLayers: number;
    /** 0 for a dense model. */
    readonly experts: number;
    readonly expertsUsed: number;
  };
  readonly tensors: {
    readonly count: number;
    /** Most bytes first. */
    readonly types: readonly TypeShare[];
  };
  readonly tokenizer?: TokenizerReport;
  readonly chatTemplate?: TemplateFacts;
  /** For chat, when it is not what the checkpoint's author meant. */
  readonly warning?: string;
  readonly memory: {
    readonly weightBytes: number;
    /** Of a sequence, by KV type. */
    readonly kv: readonly KvReport[];
  };
  /** Why it would not be loaded here: all that can be told at once. */
  readonly refusals: readonly Refusal[];
}

export interface KvReport {
  readonly type: string;
  /** For each 1024 tokens, in the layers that see all of them. */
  readonly bytesPer1kTokens: number;
  /** In the layers with a sliding window, however long the sequence gets. */
  readonly windowBytes: number;
}

export interface TypeShare {
  readonly type: string;
  readonly count: number;
  readonly bytes: number;
}

export interface TokenizerReport {
  /** As the file names it: `gpt2`, `llama`; `tokenizer.json` for folders. */
  readonly kind: string;
  readonly pre?: string;
  readonly vocabulary: number;
  readonly bos?: TokenReport;
  readonly endOfGeneration: readonly TokenReport[];
}

export interface TokenReport {
  readonly id: number;
  readonly text: string;
}

export interface Refusal {
  /** Stable, `ERR_...`. */
  readonly code: string;
  readonly message: string;
}

export interface InspectedModel {
  readonly id: string;
  readonly path: string;
  /** Of the manifest, for a file that says nothing. */
  readonly license?: string;
}

const TOKENS_PER_1K = 1024;

/**
 * @param checkMemory throws when weights of that size do not fit in the memory of this process
 */
export function reportInspection(
  { id, path, license: knownLicense }: InspectedModel,
  inspection: ModelInspection,
  checkMemory: (weightBytes: number) => void,
): InspectionReport {
  const { metadata, numLayers: layers, hidden, ffn: feedForward, vocab, headDim } = inspection;
  const license = asText(metadata["general.license"]) ?? knownLicense;
  const text = tryTo(() => loadTextModel(path, inspection));
  const memory = tryTo(() => checkMemory(inspection.weightBytes));
  const { value: model } = text;
  return {
    id,
    path,
    container: inspection.container,
    architecture: inspection.arch,
    ...(license !== undefined && { license }),
    context: inspection.context,
    shape: {
      layers,
      hidden,
      feedForward,
      heads: inspection.numHeads,
      kvHeads: inspection.numKvHeads,
      headDim,
      vocabulary: vocab,
    },
    features: reportFeatures(inspection),
    tensors: { count: inspection.tensors.length, types: sumByType(inspection.tensors) },
    ...(model && { tokenizer: reportTokenizer(model.tokenizer, inspection) }),
    ...(model?.chatTemplate && { chatTemplate: templateFacts(model.chatTemplate) }),
    ...(model?.chatWarning !== undefined && { warning: model.chatWarning }),
    memory: {
      weightBytes: inspection.weightBytes,
      kv: inspection.kvCosts.map(({ type, bytesPerToken, windowBytes }) => {
        return { type, bytesPer1kTokens: bytesPerToken * TOKENS_PER_1K, windowBytes };
      }),
    },
    refusals: [...inspection.refusals, ...text.refusals, ...memory.refusals],
  };
}

function reportFeatures(inspection: ModelInspection): InspectionReport["features"] {
  const { ropeScaling, slidingWindow, numSlidingLayers, numExperts, numExpertsUsed } = inspection;
  return {
    ropeScaling,
    slidingWindow,
    slidingLayers: numSlidingLayers,
    experts: numExperts,
    expertsUsed: numExpertsUsed,
  };
}

/** The value, or the refusal that came instead. */
function tryTo<T>(run: () => T): { readonly value?: T; readonly refusals: readonly Refusal[] } {
  try {
    return { value: run(), refusals: [] };
  } catch (error) {
    return { refusals: [refusalOf(error)] };
  }
}

/** An error with a code of ours, or of the memory plan; others are no refusals. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof ExitError) return { code: "ERR_MODEL_MEMORY", message: error.message };
  const { code, message } = error as Error & { code?: unknown };
  if (typeof code !== "string" || !code.startsWith("ERR_")) throw error;
  return {
    code,
    message: message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message,
  };
}

function sumByType(tensors: readonly TensorSummary[]): TypeShare[] {
  const shares = new Map<string, { type: string; count: number; bytes: number }>();
  for (const { type, bytes } of tensors) {
    const share = shares.get(type) ?? { type, count: 0, bytes: 0 };
    shares.set(type, { type, count: share.count + 1, bytes: share.bytes + bytes });
  }
  return [...shares.values()].sort((a, b) => b.bytes - a.bytes);
}

function reportTokenizer(tokenizer: Tokenizer, { metadata }: ModelInspection): TokenizerReport {
  const token = (id: number): TokenReport => ({ id, text: tokenizer.tokenText(id) });
  const pre = asText(metadata["tokenizer.ggml.pre"]);
  return {
    kind: asText(metadata["tokenizer.ggml.model"]) ?? "tokenizer.json",
    ...(pre !== undefined && { pre }),
    vocabulary: tokenizer.vocabSize,
    ...(tokenizer.bosId !== undefined && { bos: token(tokenizer.bosId) }),
    endOfGeneration: [...tokenizer.eogIds].sort((a, b) => a - b).map(token),
  };
}

function asText(value: MetadataValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
