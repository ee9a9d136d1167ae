/**
 * Where the tests find models. Tiny ones (random weights of our own making) are committed; everything
 * else lies in the folder that WARMLOOP_TEST_DATA names.
 */
import path from "node:path";

const GOLDEN_MODELS = path.join(import.meta.dirname, "golden/models");

/** llama architecture, vocabulary 512, context 512, SentencePiece tokens; f16. */
export const TINY_MODEL = path.join(GOLDEN_MODELS, "llama-spm.F16.gguf");

/** The folder with fixtures outside the repository; tests that need it skip without it. */
export const testDataFolder: string | undefined = process.env.WARMLOOP_TEST_DATA || undefined;

/** A folder for each tiny model, its files gzip'd: all of them from there, else the few that are committed. */
export const FIXTURE_MODELS =
  testDataFolder === undefined ? GOLDEN_MODELS : path.join(testDataFolder, "fixtures/models");
