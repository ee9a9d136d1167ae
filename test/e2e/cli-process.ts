/** The compiled `warmloop` command as a child process, as a user runs it. */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";

export const ROOT = path.resolve(import.meta.dirname, "../..");
export const MAIN = path.join(ROOT, "dist", "cli", "main.js");

export interface RunResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SpawnOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Program and first arguments; default: node with the compiled main. */
  readonly command?: readonly [string, ...string[]];
}

export class CliProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  #stdout = "";
  #stderr = "";
  readonly #ended: Promise<number | null>;
  readonly #onOutput = new Set<() => void>();

  constructor(args: readonly string[], { env = {}, command }: SpawnOptions = {}) {
    const [program, ...first] = command ?? [process.execPath, MAIN];
    this.child = spawn(program, [...first, ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk) => {
      this.#stdout += chunk;
      for (const listener of this.#onOutput) listener();
    });
    this.child.stderr?.on("data", (chunk) => {
      this.#stderr += chunk;
    });
    this.#ended = new Promise((resolve, reject) => {
      this.child.on("error", reject);
      this.child.on("close", (code) => {
        resolve(code);
        for (const listener of this.#onOutput) listener();
      });
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  async result(): Promise<RunResult> {
    const exitCode = await this.#ended;
    return { exitCode, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** First match in stdout. @throws {Error} when the process ends without one */
  waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const match = pattern.exec(this.#stdout);
        const hasEnded = this.child.exitCode !== null || this.child.signalCode !== null;
        if (match === null && !hasEnded) return;
        this.#onOutput.delete(check);
        if (match !== null) resolve(match);
        else reject(new Error(`ended without ${pattern}: ${this.#stderr}`));
      };
      this.#onOutput.add(check);
      check();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill("SIGKILL");
    await this.#ended;
  }
}

/** Runs `warmloop ARGS` to its end. */
export async function runCli(args: readonly string[], options?: SpawnOptions): Promise<RunResult> {
  await using cli = new CliProcess(args, options);
  return await cli.result();
}

export interface StartedServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  readonly url: string;
  readonly modelId: string;
  readonly process: CliProcess;
}

/** `warmloop serve --port 0 ARGS`, once it has printed its ready line. Downloads the model if need be. */
export async function startServer(
  args: readonly string[] = [],
  options?: SpawnOptions,
): Promise<StartedServer> {
  const command = options?.command === undefined ? ["serve"] : [];
  return await whenReady(new CliProcess([...command, "--port", "0", ...args], options));
}

/** A command that serves, once it has printed its ready line. @throws {Error} when it ends without */
export async function whenReady(server: CliProcess): Promise<StartedServer> {
  try {
    const [, url, modelId] = await server.waitFor(/^warmloop ready (\S+) model=(\S+)$/m);
    return {
      url: url ?? "",
      modelId: modelId ?? "",
      process: server,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}
