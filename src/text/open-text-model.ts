import { loadAddon } from "../native/load-addon.ts";
import { type LoadTextModelOptions, loadTextModel } from "./load-text-model.ts";
import type { TextModel } from "./text-types.ts";

/** `loadTextModel` for a thread that knows the path only. */
export function openTextModel(modelPath: string, options?: LoadTextModelOptions): TextModel {
  return loadTextModel(modelPath, loadAddon().inspectModel(modelPath), options);
}
