#pragma once
// The function table of one instruction set. Kernels are plain functions over plain structs: no
// allocation, no std containers, no threads; CpuOps splits the work and calls them from the pool.
// `linear`, `attention`: any split of their ranges gives the same bits.

#include <cstdint>

#include "backend/kv_cache.h"
#include "backend/ops.h"
#include "backend/weight.h"

namespace wl::cpu {

/// Panels [panel_begin, panel_end) of one product, all rows of the input.
struct LinearArgs {
  backend::Weight weight;
  backend::LinearInput input;
  const float* bias = nullptr;
  backend::Matrix out;
  int panel_begin = 0;
  int panel_end = 0;
};

/// One KV head of a run of query rows of one sequence. Row r is query `r / group` of the run and
/// head kv_head * group + r % group; it sees keys first_key(r / group)..first_position + r / group.
struct AttentionArgs {
  backend::KvCache cache;
  int layer = 0;
  int kv_head = 0;
  int group = 1;  // query heads a KV head
  int num_queries = 0;
  int first_position = 0;                // of the run's first query; later ones follow on
  const int32_t* block_table = nullptr;  // of the sequence
  const float* q = nullptr;              // first query's head kv_head * group
  float* out = nullptr;                  // the same place in the output
  int64_t query_stride = 0;              // floats from one query to the next, in q and out
  backend::AttentionParams params;
  float* scratch = nullptr;  // scratch_floats()

  int num_keys(int query) const { return first_position + query + 1; }
  /// First key that a query sees.
  int first_key(int query) const {
    const int first = num_keys(query) - params.window;
    return params.window > 0 && first > 0 ? first : 0;
  }
  /// Keys of all rows, from the start of the block of the first one; padded to whole blocks. Scores
  /// are kept for these, so that a key's lane follows its absolute position.
  int first_scored_key() const {
    return first_key(0) / backend::kKvBlockSize * backend::kKvBlockSize;
  }
  int64_t scored_keys() const {
    const int keys = num_keys(num_queries - 1) - first_scored_key();
    return (keys + backend::kKvBlockSize - 1) / backend::kKvBlockSize * backend::kKvBlockSize;
  }
  /// The sink of the run's head number `head` (0..group - 1), or null.
  const float* sink(int head) const {
    return params.sinks == nullptr ? nullptr : params.sinks + kv_head * group + head;
  }
  /// Scores of all rows, their output sums and totals, and one block of K or V as floats.
  int64_t scratch_floats() const {
    const int64_t stride = cache.value_stride();
    return (scored_keys() + stride + 1) * num_queries * group + stride * backend::kKvBlockSize;
  }
};

/// Where quantised activations go; shapes as in LinearInput.
struct QuantizedRows {
  int16_t* q = nullptr;
  float* scale = nullptr;
  int32_t* sum = nullptr;
  int32_t* low_sum = nullptr;
  float* scaled_sum = nullptr;
  int8_t* q8 = nullptr;      // or none, where levels is 16383
  int8_t* q_high = nullptr;  // or none, see KernelTable::splits_inputs
  int8_t* q_low = nullptr;
};

struct KernelTable {
  const char* name;
  /// Whether quantize_rows also writes q_high and q_low, and `linear` reads them.
  bool splits_inputs = false;
  /// Quantises rows [row_begin, row_end) of x; levels = 16383 or 127. Formula: backend/ops.h.
  void (*quantize_rows)(backend::Matrix x, int row_begin, int row_end, float levels,
                        const QuantizedRows& out);
  void (*linear[backend::kNumWeightForms])(const LinearArgs& args);
  void (*attention)(const AttentionArgs& args);
  void (*rms_norm_row)(float* out, const float* x, const float* weight, int cols, float eps);
  /// Elements 0..count - 1 of the ops of the same names.
  void (*gated_mlp)(float* gate, const float* up, int64_t count, backend::MlpGate how);
  void (*add_scaled)(float* x, const float* y, float scale, int64_t count);
  void (*soft_cap)(float* x, float cap, int64_t count);
  /// x[i] = exp(x[i] - largest); returns their lane-tree sum.
  float (*exp_row)(float* x, int count, float largest);
  /// One row x of Ops::add_weighted_rows; rows, weights [num_used].
  void (*add_weighted_row)(float* x, backend::Matrix y, int num_used, const int32_t* rows,
                           const float* weights);
};

/// Levels of this build, slowest first; `ref` is always there. A level's getter returns null when
/// the build lacks it.
const KernelTable* ref_kernels();
const KernelTable* avx2_kernels();
const KernelTable* avx512_kernels();
const KernelTable* amx_kernels();

}  // namespace wl::cpu
