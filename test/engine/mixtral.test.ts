/**
 * Mixtral has no fixture: a tiny one with random weights is written here, and its logits are compared
 * with a plain computation of the same formulas in float64.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { openNativeEngine } from "../../src/engine/native-engine.ts";
import { seededRandom } from "../seeded-random.ts";
import { compareLogits } from "./logit-difference.ts";

const [LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM, FFN, VOCAB] = [2, 32, 4, 2, 8, 48, 64];
const [EXPERTS, USED, EPS, THETA] = [4, 2, 1e-5, 10_000];
const CONFIG = {
  model_type: "mixtral",
  num_hidden_layers: LAYERS,
  hidden_size: HIDDEN,
  num_attention_heads: HEADS,
  num_key_value_heads: KV_HEADS,
  intermediate_size: FFN,
  vocab_size: VOCAB,
  num_local_experts: EXPERTS,
  num_experts_per_tok: USED,
  max_position_embeddings: 64,
  rms_norm_eps: EPS,
  rope_theta: THETA,
  sliding_window: null,
  hidden_act: "silu",
  tie_word_embeddings: false,
};

/** Rows of a matrix; a vector is one row. */
type Matrix = readonly Float32Array[];
type Weights = ReadonlyMap<string, Matrix>;
type Vector = readonly number[];

function makeWeights(): Weights {
  const random = seededRandom(5);
  const weights = new Map<string, Matrix>();
  const add = (name: string, rows: number, cols: number, offset = 0): void => {
    const row = () => Float32Array.from({ length: cols }, () => offset + (random() - 0.5));
    weights.set(`${name}.weight`, Array.from({ length: rows }, row));
  };
  add("model.embed_tokens", VOCAB, HIDDEN);
  for (let i = 0; i < LAYERS; i++) {
    const layer = `model.layers.${i}`;
    add(`${layer}.input_layernorm`, 1, HIDDEN, 1);
    add(`${layer}.self_attn.q_proj`, HEADS * HEAD_DIM, HIDDEN);
    add(`${layer}.self_attn.k_proj`, KV_HEADS * HEAD_DIM, HIDDEN);
    add(`${layer}.self_attn.v_proj`, KV_HEADS * HEAD_DIM, HIDDEN);
    add(`${layer}.self_attn.o_proj`, HIDDEN, HEADS * HEAD_DIM);
    add(`${layer}.post_attention_layernorm`, 1, HIDDEN, 1);
    add(`${layer}.block_sparse_moe.gate`, EXPERTS, HIDDEN);
    for (let e = 0; e < EXPERTS; e++) {
      const expert = `${layer}.block_sparse_moe.experts.${e}`;
      add(`${expert}.w1`, FFN, HIDDEN);
      add(`${expert}.w2`, HIDDEN, FFN);
      add(`${expert}.w3`, FFN, HIDDEN);
    }
  }
  add("model.norm", 1, HIDDEN, 1);
  add("lm_head", VOCAB, HIDDEN);
  return weights;
}

/** A checkpoint folder without a tokenizer. Format: an 8-byte length, a JSON table, the bytes. */
function writeCheckpoint(weights: Weights): string {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-mixtral-"));
  const table: Record<string, object> = {};
  const parts: Buffer[] = [];
  let end = 0;
  for (const [name, rows] of weights) {
    const bytes = Buffer.concat(rows.map((row) => Buffer.from(row.buffer)));
    const shape = name.includes("norm") ? [HIDDEN] : [rows.length, rows[0]?.length];
    table[name] = { dtype: "F32", shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
    parts.push(bytes);
  }
  const head = Buffer.from(JSON.stringify(table));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(head.length));
  writeFileSync(path.join(folder, "model.safetensors"), Buffer.concat([length, head, ...parts]));
  writeFileSync(path.join(folder, "config.json"), JSON.stringify(CONFIG));
  return folder;
}

// ---- The formulas

const dot = (a: Vector | Float32Array, b: Vector): number =>
  b.reduce((sum, x, i) => sum + x * (a[i] as number), 0);
const plus = (a: Vector, b: Vector): number[] => a.map((x, i) => x + (b[i] as number));
const times = (matrix: Matrix, x: Vector): Vector => matrix.map((row) => dot(row, x));
const silu = (x: number): number => x / (1 + Math.exp(-x));

function softmax(scores: Vector): Vector {
  const powers = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

class Mixtral {
  readonly #weights: Weights;

  constructor(weights: Weights) {
    this.#weights = weights;
  }

  /** Logits of every position. */
  run(tokens: readonly number[]): Vector[] {
    let states: Vector[] = tokens.map((id) => [...(this.#matrix("model.embed_tokens")[id] ?? [])]);
    for (let i = 0; i < LAYERS; i++) {
      const layer = `model.layers.${i}`;
      const read = states.map((x) => this.#norm(`${layer}.input_layernorm`, x));
      const attended = this.#attend(`${layer}.self_attn`, read);
      states = states.map((x, position) => plus(x, attended[position] ?? []));
      states = states.map((x) => {
        const normed = this.#norm(`${layer}.post_attention_layernorm`, x);
        return plus(x, this.#mixture(`${layer}.block_sparse_moe`, normed));
      });
    }
    return states.map((x) => times(this.#matrix("lm_head"), this.#norm("model.norm", x)));
  }

  #matrix(name: string): Matrix {
    return this.#weights.get(`${name}.weight`) ?? [];
  }

  #norm(name: string, x: Vector): Vector {
    const scale = 1 / Math.sqrt(dot(x, x) / HIDDEN + EPS);
    return [...(this.#matrix(name)[0] ?? [])].map((weight, i) => weight * scale * (x[i] as number));
  }

  #attend(name: string, inputs: readonly Vector[]): Vector[] {
    const heads = (part: string, count: number) =>
      inputs.map((x, position) => {
        const all = times(this.#matrix(`${name}.${part}`), x);
        return Array.from({ length: count }, (_, h) => {
          const head = all.slice(h * HEAD_DIM, (h + 1) * HEAD_DIM);
          return part === "v_proj" ? head : rotate(head, position);
        });
      });
    const [q, k, v] = [
      heads("q_proj", HEADS),
      heads("k_proj", KV_HEADS),
      heads("v_proj", KV_HEADS),
    ];
    return inputs.map((_, position) => {
      const all = Array.from({ length: HEADS }, (_, h) => {
        const group = Math.floor(h / (HEADS / KV_HEADS));
        const keys = k.slice(0, position + 1).map((key) => key[group] as Vector);
        const query = q[position]?.[h] as Vector;
        const shares = softmax(keys.map((key) => dot(key, query) / Math.sqrt(HEAD_DIM)));
        const values = shares.map((share, i) => v[i]?.[group]?.map((x) => x * share) as Vector);
        return values.reduce(plus);
      });
      return times(this.#matrix(`${name}.o_proj`), all.flat());
    });
  }

  /** Softmax over all experts, then the best ones with their shares rescaled to sum to one. */
  #mixture(name: string, x: Vector): number[] {
    const shares = softmax(times(this.#matrix(`${name}.gate`), x));
    const chosen = shares.map((share, e) => ({ share, e })).toSorted((a, b) => b.share - a.share);
    const used = chosen.slice(0, USED);
    const sum = used.reduce((total, { share }) => total + share, 0);
    return used
      .map(({ share, e }) => {
        const part = (w: string) => this.#matrix(`${name}.experts.${e}.${w}`);
        const up = times(part("w3"), x);
        const inner = times(part("w1"), x).map((gate, i) => silu(gate) * (up[i] as number));
        return times(part("w2"), inner).map((y) => (y * share) / sum);
      })
      .reduce(plus);
  }
}

/** Pairs are half a head apart. */
function rotate(head: Vector, position: number): Vector {
  const half = HEAD_DIM / 2;
  const turned = [...head];
  for (let i = 0; i < half; i++) {
    const angle = position * THETA ** (-i / half);
    const [a, b] = [head[i] as number, head[i + half] as number];
    turned[i] = a * Math.cos(angle) - b * Math.sin(angle);
    turned[i + half] = b * Math.cos(angle) + a * Math.sin(angle);
  }
  return turned;
}

test("a tiny Mixtral has the logits of its formulas", async () => {
  const weights = makeWeights();
  const tokens = Array.from({ length: 24 }, (_, i) => (i * 37 + 5) % VOCAB);
  const expected = Float32Array.from(new Mixtral(weights).run(tokens).flat());
  const modelPath = writeCheckpoint(weights);
  const engine = await openNativeEngine({ modelPath, activations: "float", kvType: "f32" });
  const { logits } = await engine.runTokens({
    tokens: Int32Array.from(tokens),
    maxOutputTokens: 1,
    logits: "all",
  });
  await engine.close();
  const ours = logits.subarray(0, expected.length);
  expect(compareLogits(ours, expected, VOCAB).maxAbs).toBeLessThan(1e-4); // float32 beside float64
});
