/**
 * node-llama-cpp as child.mjs drives it: its prebuilt CPU binaries, low-level sequences, no chat
 * layer, defaults wherever there is one. It is installed into bench/scratch and is no dependency.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

export const PEER = { name: "node-llama-cpp", version: "3.21.1" };

const FOLDER = path.resolve(import.meta.dirname, "../scratch/peer");
const PEER_PACKAGE = path.join(FOLDER, "node_modules", PEER.name);

/** Installs the package and the one set of binaries this machine uses; no GPU ones, no scripts. */
export function installPeer() {
  const manifest = path.join(PEER_PACKAGE, "package.json");
  if (existsSync(manifest)) {
    const { version } = JSON.parse(readFileSync(manifest, "utf8"));
    if (version === PEER.version) return;
  }
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, "package.json"), '{ "private": true }\n');
  const packages = [PEER.name, "@node-llama-cpp/linux-x64"].map(
    (name) => `${name}@${PEER.version}`,
  );
  const flags = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...flags, ...packages], { cwd: FOLDER, stdio: ["ignore", 2, 2] });
}

/** The package itself and a model in it. */
export async function loadPeer(modelPath) {
  const library = await import(pathToFileURL(path.join(PEER_PACKAGE, "dist", "index.js")).href);
  // maxThreads 0: exactly the threads asked for.
  const settings = { gpu: false, build: "never", maxThreads: 0, logLevel: "error" };
  const llama = await library.getLlama(settings);
  return { library, llama, model: await llama.loadModel({ modelPath }) };
}

export async function openPeer({ modelPath, threads, sequences, contextTokens }) {
  const { llama, model } = await loadPeer(modelPath);
  const context = await model.createContext({
    threads,
    sequences,
    contextSize: contextTokens,
    batchSize: 512,
  });
  return new PeerEngine({ llama, model, context, sequences });
}

/** The methods are those of warmloop-engine.mjs that the peer has an equivalent of. */
class PeerEngine {
  #parts;
  #sequences;
  #keptTokens = 0;

  constructor({ llama, model, context, sequences }) {
    this.#parts = [context, model, llama];
    this.#sequences = Array.from({ length: sequences }, () => context.getSequence());
  }

  async generate({ prompts, outputTokens }) {
    const counts = prompts.map((prompt, i) =>
      countTokens(this.#sequences[i], prompt, outputTokens),
    );
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** Prompts of one length. */
  async keep({ prompts }) {
    this.#keptTokens = 0;
    await this.rewind();
    await Promise.all(
      prompts.map((prompt, i) => this.#sequences[i].evaluateWithoutGeneratingNewTokens(prompt)),
    );
    this.#keptTokens = prompts[0].length;
  }

  async decode({ token, outputTokens }) {
    const prompts = this.#sequences.map(() => [token]);
    return this.generate({ prompts, outputTokens });
  }

  async verify({ token, width, passes }) {
    const input = Array(width).fill([
      token,
      { generateNext: { token: true, options: { temperature: 0 } } },
    ]);
    for (let i = 0; i < passes; i++) await this.#sequences[0].controlledEvaluate(input);
    return width * passes;
  }

  /** Back to what `keep` left, or to nothing. */
  async rewind() {
    const start = this.#keptTokens;
    for (const sequence of this.#sequences) {
      const end = sequence.nextTokenIndex;
      if (start === 0) await sequence.clearHistory();
      else if (end > start) await sequence.eraseContextTokenRanges([{ start, end }]);
    }
  }

  async close() {
    for (const part of this.#parts) await part.dispose();
  }
}

async function countTokens(sequence, prompt, outputTokens) {
  let count = 0;
  for await (const _ of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
    count++;
    if (count === outputTokens) break;
  }
  return count;
}
