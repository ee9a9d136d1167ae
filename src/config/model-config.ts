import { ACCEPT_ANY } from "../base/accept-any.ts";
import { type ConfigOf, list, option, text } from "./option.ts";

export const MODEL_OPTIONS = {
  model: option<string | undefined>({
    flag: "model",
    placeholder: "ID|hf:OWNER/REPO[@REV][/FILE]|PATH",
    meaning:
      "id of models/manifest.json, a GGUF file or the safetensors of a hub's repository, a GGUF file or a safetensors folder",
    defaultText: "the manifest's default",
    default: undefined,
    parse: text,
  }),
  alias: option<string | undefined>({
    flag: "alias",
    placeholder: "NAME",
    meaning: "name that clients use for the model",
    defaultText: "the model's id",
    default: undefined,
    parse: text,
  }),
  chatTemplateFile: option<string | undefined>({
    flag: "chat-template",
    placeholder: "FILE",
    meaning: "jinja chat template to use instead of the model's",
    default: undefined,
    parse: text,
  }),
  modelsDir: option<string | undefined>({
    flag: "models-dir",
    placeholder: "FOLDER",
    meaning: "where downloaded models are kept",
    defaultText: "warmloop/models in the user's cache folder",
    default: undefined,
    parse: text,
  }),
  acceptedLicenses: option<readonly string[]>({
    flag: "accept-license",
    placeholder: "ID",
    meaning:
      "accept the licence terms of the model that is fetched; with ids, comma-separated, only theirs",
    defaultText: "none",
    default: [],
    bareValue: ACCEPT_ANY,
    parse: list,
  }),
} as const;

/** Options, and what the surroundings say. */
export type ModelConfig = Omit<ConfigOf<typeof MODEL_OPTIONS>, "modelsDir"> & {
  readonly modelsDir: string;
  /** Base URL of the model hub, without a slash at its end; `HF_ENDPOINT` names a mirror. */
  readonly hubUrl: string;
  /** Secret, from `HF_TOKEN`; for the hub itself and nobody else. */
  readonly hubToken: string | undefined;
};
