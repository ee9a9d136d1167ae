#pragma once
// The CPU/CUDA seam: every operation a model is made of, at layer grain. Models call these and
// nothing else. This header is the specification of each op; native/cpu/ref holds the scalar
// reference written from the formulas, and every kernel equals it bit for bit (test/native/cpu).
//
// Arithmetic rules, the reason why a row never sees its batch:
//  * all activations are float32; contraction is off, `fma` below is one rounding;
//  * a product accumulates over inputs in ascending order, one chain an output (backend/weight.h);
//  * a reduction over a vector (norm, softmax sum) runs in 16 lanes, element i in lane i % 16, each
//    lane in ascending order, then lanes are added as a tree: j + (j + 8), then 4, 2, 1;
//  * attention reads K and V from the cache only, after rounding to the cache's type;
//  * exp is the polynomial of cpu/exp_poly.h, the same operations everywhere.
// Ops run on the engine thread and may fan out to the kernel pool; they return when done.

#include <cstdint>

#include "backend/kv_cache.h"
#include "backend/weight.h"

namespace wl::backend {

/// Dense row-major float32 matrix [rows, cols]; not owned.
struct Matrix {
  float* data = nullptr;
  int rows = 0;
  int cols = 0;
  float* row(int r) const { return data + static_cast<int64_t>(r) * cols; }
};

/// How activations enter a product with quantised weights.
enum class ActivationWidth {
  kWide,  // 15 bits (+-16383) per 32 inputs
  kInt8,  // 8 bits (+-127) per 32 inputs
};

/// The input of one or more products, quantised once. For a row and a block b of 32 inputs:
///   amax = max |x|; scale = amax / L; q = round_to_even(x * (L / amax)), L = 16383 or 127
///   sum = sum of q; a block of zeros has scale 0; a block with NaN or infinity has scale NaN.
/// Buffers belong to the Ops instance and are valid until its next prepare_input.
struct LinearInput {
  Matrix x;                      // the float rows themselves, for float weights
  const int16_t* q = nullptr;    // [rows, cols]
  const float* scale = nullptr;  // [rows, cols / 32]
  const int32_t* sum = nullptr;  // [rows, cols / 32]
};

/// Ragged batch of queries for paged attention. Sequence s has query rows
/// [cu_seqlens_q[s], cu_seqlens_q[s + 1]) and block ids block_tables[block_table_starts[s]...].
struct AttentionBatch {
  int num_seqs = 0;
  const int32_t* cu_seqlens_q = nullptr;  // [num_seqs + 1]
  const int32_t* positions = nullptr;     // [num_tokens]
  const int32_t* block_tables = nullptr;
  const int32_t* block_table_starts = nullptr;  // [num_seqs + 1]
};

class Ops {
 public:
  virtual ~Ops() = default;

  /// "ref", "avx2", "avx512".
  virtual const char* isa_name() const = 0;

  /// out[t, :] = row ids[t] of `table` [vocab, hidden], dequantised. Ids are in range.
  virtual void embed(Matrix out, const Weight& table, const int32_t* ids) = 0;

  /// out[t, i] = (x[t, i] * (1 / sqrt(sum_i(x^2) / cols + eps))) * weight[i]; the sum in 16 lanes,
  /// by fma. out may alias x; weight [cols].   Source: Zhang & Sennrich 2019.
  virtual void rms_norm(Matrix out, Matrix x, const float* weight, float eps) = 0;

  /// Prepares x for products; `quantize` when any of the weights is quantised (cols % 32 == 0
  /// then).
  virtual LinearInput prepare_input(Matrix x, bool quantize) = 0;

  /// out[t, o] = sum_k(weight[o, k] * x[t, k]) (+ bias[o]); out [x.rows, weight.rows].
  ///   float forms       acc = fma(w, x, acc) over k
  ///   quantised forms   over blocks b: dot = exact int32 sum of q_w * q_x (sub-scales multiplied
  ///   in);
  ///                     acc = fma(float(dot), scale_w * scale_x, acc);
  ///                     macc = fma(min_w, scale_x * float(sum_x), macc); result acc + macc
  ///                     (acc alone in forms without a minimum)
  /// bias [rows] may be null; it is added last.
  virtual void linear(Matrix out, const LinearInput& input, const Weight& weight,
                      const float* bias) = 0;

  /// Rotates the first `rotary_dims` of each head of x [tokens, heads * head_dim] in place:
  /// (a, b) -> (a * cos - b * sin, b * cos + a * sin), pairs (2i, 2i + 1) when `is_adjacent`, else
  /// (i, i + rotary_dims / 2). cos, sin [tokens, rotary_dims / 2].   Source: Su et al. 2021.
  virtual void rope(Matrix x, int head_dim, int rotary_dims, bool is_adjacent, const float* cos,
                    const float* sin) = 0;

  /// Rounds k and v [tokens, kv_heads * head_dim] to the cache's type and stores row t at
  /// slot_mapping[t] of `layer`.
  virtual void store_kv(const KvCache& cache, int layer, Matrix k, Matrix v,
                        const int32_t* slot_mapping) = 0;

  /// Causal attention of q [tokens, heads * head_dim] through the block tables; query head h reads
  /// KV head h / (heads / kv_heads). For a query at position p over keys 0..p:
  ///   s_j = (fma chain over head_dim of q * k_j) * scale; m = max s; w_j = exp(s_j - m)
  ///   out = (fma chain over j of w_j * v_j) / (lane-tree sum of w, key j in lane j % 16)
  /// All chains ascend, so neither chunking nor batching changes a bit.
  virtual void paged_attention(Matrix out, Matrix q, const KvCache& cache, int layer, float scale,
                               const AttentionBatch& batch) = 0;

  /// gate[t, i] = (gate / (1 + exp(-gate))) * up, in place in `gate`.   Source: Shazeer 2020
  /// (SwiGLU).
  virtual void silu_mul(Matrix gate, Matrix up) = 0;

  /// x += y.
  virtual void add(Matrix x, Matrix y) = 0;
};

}  // namespace wl::backend
