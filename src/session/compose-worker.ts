/** Entry of a thread that composes large prompts. Opens the model's text side when it starts. */
import { workerData } from "piscina";
import { type Outcome, refusalOf } from "../protocol/api-error.ts";
import { openTextModel } from "../text/open-text-model.ts";
import {
  type ComposedPrompt,
  type ComposeRequest,
  type DeltaRender,
  PromptComposer,
} from "./prompt-composer.ts";

export interface ComposeWorkerData {
  readonly modelPath: string;
  readonly deltaRender?: DeltaRender;
  /** Replaces the checkpoint's template. */
  readonly chatTemplate?: string;
}

/** Refusals travel as values, because an ApiError loses its class on the way between threads. */
export type ComposeAnswer = Outcome<ComposedPrompt>;

const composer = createComposer(workerData as ComposeWorkerData);

export async function compose(request: ComposeRequest): Promise<ComposeAnswer> {
  try {
    return { accepted: await composer.compose(request) };
  } catch (error) {
    return refusalOf(error);
  }
}

function createComposer({ modelPath, deltaRender, ...options }: ComposeWorkerData): PromptComposer {
  const model = openTextModel(modelPath, options);
  if (model.chatTemplate === undefined) throw new Error("nothing to compose without a template");
  return new PromptComposer(model, model.chatTemplate, deltaRender);
}
