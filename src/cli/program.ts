/**
 * Commands and flags. Each command's code is imported when it runs: a start that ends with a usage or
 * memory error does so without loading the server.
 */
import { Command, Option } from "commander";
import { ACCEPT_ANY } from "../base/accept-any.ts";
import { usageError } from "../base/exit-error.ts";
import { type Config, loadConfig, OPTION_SECTIONS } from "../config/load-config.ts";
import type { Section } from "../config/option.ts";
import type { ProcessInputs } from "../config/process-inputs.ts";

const DOWNLOADABLE = "id, hf:OWNER/REPO[@REV]/FILE.gguf or hf:OWNER/REPO[@REV] (safetensors)";

type SectionName = keyof typeof OPTION_SECTIONS;
type Flags = Readonly<Record<string, string | undefined>>;

export function createProgram({ env }: ProcessInputs): Command {
  const program = new Command("warmloop")
    .description("Native-accelerated inference server for agent loops")
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => {
        write(`${text.trim().replace("error: ", "warmloop: ").replaceAll("\n", " ")}\n`);
      },
    });
  const configOf = (command: Command): Config => loadConfig({ flags: flagsOf(command), env });

  addCommand(program, "serve", ["server", "model", "engine", "store", "log"])
    .description("serve a model over the Responses, Chat Completions and Completions APIs")
    .action(async (_flags: Flags, command: Command) => {
      const { serve } = await import("./serve.ts");
      await serve(configOf(command));
    });

  addModelsCommands(program, configOf);

  addCommand(program, "doctor", ["server", "model", "engine"])
    .description("what this machine offers and lacks, and the settings of the Codex CLI")
    .action(async (_flags: Flags, command: Command) => {
      const { runDoctor } = await import("./doctor.ts");
      runDoctor(configOf(command));
    });
  return program;
}

function addModelsCommands(program: Command, configOf: (command: Command) => Config): void {
  const models = program.command("models").description("known models and what is in a file");
  addCommand(models, "list", ["model"])
    .description("models of the manifest, and which of them are downloaded")
    .action(async (_flags: Flags, command: Command) => {
      const { listModels } = await import("./models-commands.ts");
      listModels(configOf(command));
    });
  addCommand(models, "pull", ["model"])
    .argument("[model]", DOWNLOADABLE)
    .description("download and verify a model; without a name the default")
    .action(async (wanted: string | undefined, flags: Flags, command: Command) => {
      if (wanted === undefined) refuseLicenseForNoModel(flags);
      const { pullModel } = await import("./models-commands.ts");
      await pullModel(wanted, configOf(command));
    });
  addCommand(models, "remove", ["model"])
    .argument("<model>", DOWNLOADABLE)
    .description("remove a downloaded model")
    .action(async (wanted: string, _flags: Flags, command: Command) => {
      const { removeModel } = await import("./models-commands.ts");
      removeModel(wanted, configOf(command));
    });
  addCommand(models, "inspect", ["model"])
    .argument("<model>", "id, hf:OWNER/REPO[@REV][/FILE], GGUF file or safetensors folder")
    .option("--json", "the same as JSON, for programs")
    .description("architecture, tensors, tokenizer, chat template and memory of a model")
    .action(async (wanted: string, { json }: { json?: boolean }, command: Command) => {
      const { inspectModel } = await import("./models-commands.ts");
      inspectModel(wanted, json === true, configOf(command));
    });
}

/** The option's value is optional, so it takes an id that was meant as the model. */
function refuseLicenseForNoModel({ acceptLicense }: Flags): void {
  if (acceptLicense === undefined || acceptLicense === ACCEPT_ANY) return;
  throw usageError(
    `models pull --accept-license ${acceptLicense}: names terms and no model; write the model first, ` +
      `"models pull ${acceptLicense} --accept-license"`,
  );
}

/** A subcommand with the flags of the given sections and --config. */
function addCommand(parent: Command, name: string, sections: readonly SectionName[]): Command {
  const command = parent.command(name);
  command.addOption(new Option("--config <FILE>", "JSON file of options, keys named as the flags"));
  for (const section of sections) {
    for (const spec of Object.values<Section[string]>(OPTION_SECTIONS[section])) {
      const shown = spec.defaultText ?? (isPlain(spec.default) ? String(spec.default) : "none");
      const meaning = `${spec.meaning} (default: ${shown})`;
      const { flag, placeholder, bareValue } = spec;
      command.addOption(
        bareValue === undefined
          ? new Option(`--${flag} <${placeholder}>`, meaning)
          : new Option(`--${flag} [${placeholder}]`, meaning).preset(bareValue),
      );
    }
  }
  return command;
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

/** Given flags that take values, by name without dashes; commander names them in camel case. */
function flagsOf(command: Command): Flags {
  return Object.fromEntries(
    command.options
      .filter((option) => !option.isBoolean())
      .map((option) => [
        option.long?.slice(2) ?? option.name(),
        command.getOptionValue(option.attributeName()) as string | undefined,
      ]),
  );
}
