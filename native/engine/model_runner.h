#pragma once
// The seam between the step loop and the model: one forward pass over a ragged batch of tokens.
// The engine owns block ids and token lists; the runner owns weights, the KV tensors and kernels.
// Called from the engine thread only.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kv/kv_group.h"

namespace wl::engine {

/// Where one KV group (models/kv_layout.h) keeps the tokens of a step.
struct KvGroupBatch {
  std::vector<int32_t> slot_mapping;  // [num_tokens] block_id * block_size + offset
  /// Flat; sequence s starts at block_table_starts[s]. -1: a block that the window has passed.
  std::vector<int32_t> block_tables;
  std::vector<int32_t> block_table_starts;  // [num_seqs + 1]
};

/// One forward pass. Sequences are laid end to end; sequence s has tokens
/// [cu_seqlens_q[s], cu_seqlens_q[s + 1]) of the flat arrays.
struct StepBatch {
  std::vector<int32_t> token_ids;     // [num_tokens]
  std::vector<int32_t> positions;     // [num_tokens] absolute position in its sequence
  std::vector<int32_t> cu_seqlens_q;  // [num_seqs + 1]
  std::vector<int32_t> context_lens;  // [num_seqs] tokens whose KV is valid after this step
  std::vector<KvGroupBatch> groups;
  std::vector<int32_t> logit_rows;  // [num_logits] indices of tokens whose logits are wanted
  int num_tokens() const { return static_cast<int>(token_ids.size()); }
  int num_seqs() const { return static_cast<int>(context_lens.size()); }
};

class ModelRunner {
 public:
  virtual ~ModelRunner() = default;
  /// Stores K and V of every token at its slot, attends through the block tables and writes logits
  /// [num_logits, vocab] float32, rows in the order of `logit_rows`.
  virtual Status forward(const StepBatch& batch, float* logits) = 0;
  /// Copies the first `num_slots` slots of block `from` of a KV group into its block `to`
  /// (copy-on-write).
  virtual void copy_block(int group, int32_t from, int32_t to, int num_slots) = 0;
  virtual int vocab() const = 0;
  virtual int block_size() const = 0;
  /// At least one; full attention first.
  virtual std::vector<kv::KvGroupConfig> kv_groups() const = 0;
};

}  // namespace wl::engine
