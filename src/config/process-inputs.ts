/** What the process was started with. The only place that looks. */
export interface ProcessInputs {
  /** Arguments after the script's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function readProcessInputs(): ProcessInputs {
  return { argv: process.argv.slice(2), env: process.env };
}
