/**
 * Makes everything textual of one checkpoint: tokenizer, chat template, output decoder, sampling
 * defaults. GGUF files bring it in their metadata, safetensors folders in JSON files beside the weights.
 */

import path from "node:path";
import { isJsonObject } from "../base/json-object.ts";
import type { ModelInspection } from "../native/addon-types.ts";
import { chooseChatTemplate } from "./chat-template.ts";
import { type CheckpointFiles, readCheckpointFiles } from "./checkpoint-files.ts";
import { Guard } from "./guard.ts";
import { openFolderTokenizer, openGgufTokenizer } from "./open-tokenizer.ts";
import { StreamOutputDecoder } from "./output/output-decoder.ts";
import type { TextModel } from "./text-types.ts";
import { TokenTexts } from "./output/token-texts.ts";
import type { LoadedTokenizer } from "./tokenizer-ids.ts";

export interface LoadTextModelOptions {
  /** Replaces the checkpoint's template. */
  readonly chatTemplate?: string;
}

/**
 * @param modelPath the GGUF file, the safetensors folder or a file in it
 * @throws {TextModelError} and EngineErrors ERR_TOKENIZER_... when the tokenizer cannot be used
 * @throws {TemplateError} when `options.chatTemplate` does not parse; one of the checkpoint that does
 *   not parse fails at the first rendering instead, so that plain completions still work
 */
export function loadTextModel(
  modelPath: string,
  inspection: ModelInspection,
  options: LoadTextModelOptions = {},
): TextModel {
  const source =
    inspection.container === "gguf" ? ggufSource(modelPath, inspection) : folderSource(modelPath);
  const { tokenizer } = source;
  const texts = new TokenTexts(tokenizer);
  const textOf = (id: number | undefined): string | undefined =>
    id === undefined ? undefined : tokenizer.tokenText(id);
  const { template, warning } = chooseChatTemplate({
    override: options.chatTemplate,
    source: source.chatTemplate,
    hasToken: (text) => tokenizer.findToken(text) !== undefined,
    bosText: textOf(tokenizer.bosId),
    eosText: textOf(tokenizer.eosId),
    guard: new Guard(tokenizer.controlLiterals),
  });
  return {
    tokenizer,
    chatTemplate: template,
    chatWarning: warning,
    samplingDefaults: source.samplingDefaults,
    createOutputDecoder: (decoderOptions) =>
      new StreamOutputDecoder(texts, {
        ...decoderOptions,
        stripLeadingSpace: tokenizer.stripsLeadingSpace && decoderOptions.continuesText !== true,
      }),
  };
}

interface TextSource {
  readonly tokenizer: LoadedTokenizer;
  readonly chatTemplate: string | undefined;
  readonly samplingDefaults: TextModel["samplingDefaults"];
}

function ggufSource(file: string, inspection: ModelInspection): TextSource {
  const template = inspection.metadata["tokenizer.chat_template"];
  return {
    tokenizer: openGgufTokenizer(file),
    chatTemplate: typeof template === "string" ? template : undefined,
    samplingDefaults: {},
  };
}

function folderSource(modelPath: string): TextSource {
  const isFile = path.extname(modelPath) === ".safetensors";
  const folder = isFile ? path.dirname(modelPath) : modelPath;
  const files = readCheckpointFiles(folder);
  return {
    tokenizer: openFolderTokenizer(folder, files),
    chatTemplate: files.chatTemplate ?? configTemplate(files.tokenizerConfig?.chat_template),
    samplingDefaults: samplingDefaults(files),
  };
}

/** One template, or a list of named ones of which "default" counts. */
function configTemplate(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  const entries: readonly unknown[] = value;
  const entry = entries.filter(isJsonObject).find(({ name }) => name === "default");
  return typeof entry?.template === "string" ? entry.template : undefined;
}

function samplingDefaults(files: CheckpointFiles): TextModel["samplingDefaults"] {
  const config = files.generationConfig ?? {};
  const number = (key: string): number | undefined => {
    const value = config[key];
    return typeof value === "number" ? value : undefined;
  };
  const found = {
    temperature: number("temperature"),
    topP: number("top_p"),
    topK: number("top_k"),
    minP: number("min_p"),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}
