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
//  * exp is the polynomial of cpu/exp_poly.h, the same operations everywhere; tanh is written with
//    it: 1 + tanh(z) = 2 / (1 + exp(-2z)).
// Ops run on the engine thread and may fan out to the kernel pool; they return when done.

#include <cstdint>
#include <span>

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
///   sum = sum of q, low_sum = of the first 16, scaled_sum = scale * float(sum); a block of zeros
///   has scale 0; a block with NaN or infinity has scale NaN.
/// Buffers belong to the Ops instance and are valid until its next prepare_input.
struct LinearInput {
  Matrix x;                           // the float rows themselves, for float weights
  const int16_t* q = nullptr;         // [rows, cols]
  const float* scale = nullptr;       // [rows, cols / 32]
  const int32_t* sum = nullptr;       // [rows, cols / 32]
  const int32_t* low_sum = nullptr;   // [rows, cols / 32]
  const float* scaled_sum = nullptr;  // [rows, cols / 32]
  const int8_t* q8 = nullptr;         // [rows, cols] q as bytes, of kInt8 only
  // [rows, cols] q = 128 * q_high + q_low with q_low in 0..127; of levels that multiply them only.
  const int8_t* q_high = nullptr;
  const int8_t* q_low = nullptr;

  /// Rows [begin, begin + count): a product over them is the same rows of the whole product.
  LinearInput slice(int begin, int count) const {
    LinearInput part;
    part.x = {x.row(begin), count, x.cols};
    if (q == nullptr) return part;
    const int64_t blocks = static_cast<int64_t>(begin) * (x.cols / kBlockInputs);
    part.q = q + blocks * kBlockInputs;
    if (q8 != nullptr) part.q8 = q8 + blocks * kBlockInputs;
    if (q_high != nullptr) part.q_high = q_high + blocks * kBlockInputs;
    if (q_low != nullptr) part.q_low = q_low + blocks * kBlockInputs;
    part.scale = scale + blocks;
    part.sum = sum + blocks;
    part.low_sum = low_sum + blocks;
    part.scaled_sum = scaled_sum + blocks;
    return part;
  }
};

/// One matrix product of Ops::linear.
struct Product {
  Matrix out;  // [input.x.rows, weight.rows]
  LinearInput input;
  Weight weight;
  const float* bias = nullptr;  // [weight.rows] or null; added last
};

enum class MlpActivation {
  kSilu,           // silu(gate) * up
  kGeluTanh,       // gelu(gate) * up, gelu by tanh
  kClampedSwiglu,  // gate * sigmoid(1.702 gate) * (up + 1), both clamped to `limit` before
};

struct MlpGate {
  MlpActivation kind = MlpActivation::kSilu;
  float limit = 0;  // of kClampedSwiglu: gate <= limit, |up| <= limit
};

/// How scores of experts become weights. Probabilities are exp(s - max s) / (lane-tree sum).
enum class ExpertRule {
  kSoftmaxThenTop,            // probabilities over all experts, those of the best as they are
  kSoftmaxThenTopNormalized,  // the same, divided by max(their sum, 2^-14), added best first
  kTopThenSoftmax,            // probabilities over the best only
};

struct ExpertRouting {
  ExpertRule rule = ExpertRule::kSoftmaxThenTop;
  int num_used = 0;  // experts a token, 1..E
};

struct AttentionParams {
  float scale = 1;
  int window = 0;                // a query at p sees keys j with p - window < j <= p; 0: all j <= p
  const float* sinks = nullptr;  // [heads]: a score that joins the softmax without a value, or null
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

  /// "ref", "avx2", "avx512", "amx".
  virtual const char* isa_name() const = 0;

  /// out[t, :] = row ids[t] of `table` [vocab, hidden], dequantised. Ids are in range.
  virtual void embed(Matrix out, const Weight& table, const int32_t* ids) = 0;

  /// out[t, i] = (x[t, i] * (1 / sqrt(sum_i(x^2) / cols + eps))) * weight[i]; the sum in 16 lanes,
  /// by fma. out may alias x; weight [cols].   Source: Zhang & Sennrich 2019.
  virtual void rms_norm(Matrix out, Matrix x, const float* weight, float eps) = 0;

  /// Prepares x for products; `quantize` when any of the weights is quantised (cols % 32 == 0
  /// then).
  virtual LinearInput prepare_input(Matrix x, bool quantize) = 0;

  /// For each product out[t, o] = sum_k(weight[o, k] * x[t, k]) (+ bias[o]). Products that do not
  /// need each other's results go together in one call: it is one fan-out instead of several.
  ///   float forms       acc = fma(w, x, acc) over k
  ///   quantised forms   over blocks b: dot = exact int32 sum of q_w * q_x (sub-scales multiplied
  ///   in);
  ///                     acc = fma(float(dot), scale_w * scale_x, acc);
  ///                     macc = fma(min_w, scale_x * float(sum_x), macc); result acc + macc
  ///                     (acc alone in forms without a minimum; with sub-minimums m of the two
  ///                     halves sum_x is m0 * low_sum + m1 * (sum - low_sum))
  virtual void linear(std::span<const Product> products) = 0;
  void linear(const Product& product) { linear({&product, 1}); }

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
  /// KV head h / (heads / kv_heads). For a query at position p over the keys j that it sees:
  ///   s_j = (fma chain over head_dim of q * k_j) * scale
  ///   m = max s, with the head's sink if there is one; w_j = exp(s_j - m)
  ///   total = lane-tree sum of w, key j in lane j % 16 (+ exp(sink - m))
  ///   out = (fma chain over j of w_j * v_j) / total
  /// All chains ascend and lanes follow absolute positions, so neither chunking nor batching
  /// changes a bit. Blocks wholly before every window of a sequence are never touched: their table
  /// entries may be anything.
  /// Source of windows: Beltagy et al. 2020; of sinks: Xiao et al. 2023, with learned scores.
  virtual void paged_attention(Matrix out, Matrix q, const KvCache& cache, int layer,
                               const AttentionParams& params, const AttentionBatch& batch) = 0;

  /// The gated half of an MLP, in place in `gate`: (g / (1 + exp(-z))) * u with
  ///   kSilu            z = g                                                u = up
  ///   kGeluTanh        z = 2 sqrt(2 / pi) (g + 0.044715 g^3)                u = up
  ///   kClampedSwiglu   z = 1.702 g, g = min(g, limit)                       u = clamp(up) + 1
  /// kGeluTanh is g / 2 * (1 + tanh(z / 2)). Its z is g * fma(g * g, 0.0713548, 1.5957692).
  /// Source: Shazeer 2020 (SwiGLU, GEGLU); Hendrycks & Gimpel 2016 (GELU).
  virtual void gated_mlp(Matrix gate, Matrix up, const MlpGate& how) = 0;

  /// x = fma(y, scale, x).
  virtual void add(Matrix x, Matrix y, float scale = 1) = 0;

  /// x *= factor.
  virtual void scale(Matrix x, float factor) = 0;

  /// x = cap * tanh(x / cap), as cap * (2 / (1 + exp(-2 (x / cap))) - 1).
  virtual void soft_cap(Matrix x, float cap) = 0;

  /// Chooses experts by the scores of each token: experts, weights [tokens, num_used], the best
  /// first, ties to the lower index. A token's choice depends on its own row only. Uses up `scores`
  /// [tokens, E].   Source: Shazeer et al. 2017.
  virtual void route_experts(Matrix scores, const ExpertRouting& routing, int32_t* experts,
                             float* weights) = 0;

  /// out[i] = x[rows[i]].
  virtual void gather_rows(Matrix out, Matrix x, const int32_t* rows) = 0;

  /// x[t] += chain over j, ascending from 0, of fma(weights[t, j], y[rows[t, j]], sum);
  /// rows, weights [x.rows, num_used].
  virtual void add_weighted_rows(Matrix x, Matrix y, int num_used, const int32_t* rows,
                                 const float* weights) = 0;
};

}  // namespace wl::backend
