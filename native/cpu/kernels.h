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
/// head kv_head * group + r % group; it sees keys 0..first_position + r / group.
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
  float scale = 1;
  float* scratch = nullptr;  // attention_scratch_floats(...)
};

/// Floats of scratch that one attention call needs: the scores of every row.
inline int64_t attention_scratch_floats(int num_rows, int num_keys) {
  return static_cast<int64_t>(num_rows) * ((num_keys + 15) / 16 * 16);
}

struct KernelTable {
  const char* name;
  /// Quantises rows [row_begin, row_end) of x; levels = 16383 or 127. Formula: backend/ops.h.
  void (*quantize_rows)(backend::Matrix x, int row_begin, int row_end, float levels, int16_t* q,
                        float* scale, int32_t* sum);
  void (*linear[backend::kNumWeightForms])(const LinearArgs& args);
  void (*attention)(const AttentionArgs& args);
  void (*rms_norm_row)(float* out, const float* x, const float* weight, int cols, float eps);
  /// gate[i] = silu(gate[i]) * up[i], i < count.
  void (*silu_mul)(float* gate, const float* up, int64_t count);
};

/// Levels of this build, slowest first; `ref` is always there. A level's getter returns null when
/// the build lacks it.
const KernelTable* ref_kernels();
const KernelTable* avx2_kernels();
const KernelTable* avx512_kernels();

}  // namespace wl::cpu
