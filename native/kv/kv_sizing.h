#pragma once
// How many blocks each KV group gets out of one amount of memory.
//
// The first group sees most; its blocks, F of them, are the history that the cache remembers. Every
// other group has a window and gets what it can use:
//   min(F, one chunk with its window + the windows of R - 1 other sequences + F / 8)
// The last term is for the windows where cached turns end: without them, cached full-attention
// blocks could not be hit. R is the number of sequences that run at the same time, fewer when the
// context would not fit otherwise: requests that find no window are then preempted.

#include <cstdint>
#include <vector>

namespace wl::kv {

struct KvGroupCost {
  int window = 0;           // as in KvGroupConfig
  int64_t block_bytes = 0;  // K and V of all layers of the group
};

struct KvSizing {
  std::vector<KvGroupCost> groups;  // full attention first, then the widest window first
  int block_size = 0;
  int max_running = 0;
  int max_batch_tokens = 0;
};

/// Blocks for each group, so that sequences of `context` tokens fit if that is possible. Where it
/// is not, windows take at most half of the memory, or what one sequence needs if that is more.
std::vector<int> split_kv_memory(const KvSizing& sizing, int64_t memory_bytes, int context);

/// Longest sequence that fits when it runs alone.
int64_t max_sequence_tokens(const KvSizing& sizing, const std::vector<int>& num_blocks);

/// The least memory in which a sequence of `context` tokens fits.
int64_t min_kv_bytes(const KvSizing& sizing, int context);

}  // namespace wl::kv
