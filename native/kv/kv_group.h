#pragma once
// What a sliding window means in blocks. A KV group is the layers that see the same number of keys;
// it has blocks of its own, and a sequence has one block table in each group.
//
// A query at position p of a group with window W reads the keys p - (W - 1) .. p. A sequence holds
// what its next token reads, counted from the last block boundary at or before it: so that whoever
// finds the sequence's whole blocks in the prefix index also finds their window there.

#include <cstdint>

namespace wl::kv {

struct KvGroupConfig {
  int window = 0;  // tokens, W >= 1; 0: every token sees all before it
  int num_blocks = 0;
};

/// First block that the token at position num_computed, and all after it, may read.
int first_needed_block(int window, int block_size, int num_computed);

/// Most blocks that a sequence of any length holds while num_tokens tokens are computed in one
/// step. Precondition: a window.
int num_window_blocks(int window, int block_size, int num_tokens);

/// Longest sequence whose blocks fit when it runs alone.
int64_t max_sequence_tokens(const KvGroupConfig& group, int block_size);

/// Most tokens of one sequence that one step can compute, in sequences of at most max_sequence
/// tokens. Precondition: max_sequence <= max_sequence_tokens().
int max_step_tokens(const KvGroupConfig& group, int block_size, int max_sequence);

}  // namespace wl::kv
