#pragma once
// What one forward pass works on.

#include <cstdint>
#include <vector>

namespace wl::models {

/// Where one KV group (kv_layout.h) keeps the tokens of a step.
struct KvGroupInput {
  const int32_t* slot_mapping = nullptr;        // [num_tokens]
  const int32_t* block_tables = nullptr;        // flat; sequence s starts at block_table_starts[s]
  const int32_t* block_table_starts = nullptr;  // [num_seqs + 1]
};

/// Tokens of one step, sequences end to end.
struct DecoderInput {
  int num_tokens = 0;
  int num_seqs = 0;
  const int32_t* token_ids = nullptr;     // [num_tokens]
  const int32_t* positions = nullptr;     // [num_tokens]
  const int32_t* cu_seqlens_q = nullptr;  // [num_seqs + 1]
  std::vector<KvGroupInput> groups;       // one for each KV group
  int num_logits = 0;
  const int32_t* logit_rows = nullptr;  // [num_logits] ascending token indices
};

}  // namespace wl::models
