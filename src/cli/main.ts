/**
 * The `warmloop` command. Ends with 0, or after one line on stderr that says what to do with the exit
 * code of the failure.
 */
import { CommanderError } from "commander";
import { readProcessInputs } from "../config/process-inputs.ts";
import { explainFailure } from "./explain-failure.ts";
import { createProgram } from "./program.ts";

const inputs = readProcessInputs();
try {
  await createProgram(inputs).parseAsync(inputs.argv, { from: "user" });
} catch (error) {
  // Commander has printed its own line, or the help that was asked for.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  const { message, exitCode } = explainFailure(error);
  process.stderr.write(`warmloop: ${message}\n`);
  process.exit(exitCode);
}
