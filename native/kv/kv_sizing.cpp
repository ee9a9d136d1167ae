#include "kv/kv_sizing.h"

#include <algorithm>
#include <limits>

#include "kv/kv_group.h"

namespace wl::kv {
namespace {

// Of the first group's blocks, a share for windows at the ends of cached turns.
constexpr int kCachedWindowsShare = 8;

/// Blocks for each group when the first one has `num_first` and num_running sequences run.
std::vector<int> group_blocks(const KvSizing& sizing, int num_first, int num_running) {
  std::vector<int> num_blocks = {num_first};
  for (size_t g = 1; g < sizing.groups.size(); ++g) {
    const auto window_blocks = [&](int num_tokens) {
      return int64_t{num_window_blocks(sizing.groups[g].window, sizing.block_size, num_tokens)};
    };
    const int64_t num_useful = window_blocks(sizing.max_batch_tokens) +
                               (num_running - 1) * window_blocks(1) +
                               num_first / kCachedWindowsShare;
    num_blocks.push_back(static_cast<int>(std::min<int64_t>(num_first, num_useful)));
  }
  return num_blocks;
}

int64_t bytes_of(const KvSizing& sizing, const std::vector<int>& num_blocks, size_t first_group) {
  int64_t bytes = 0;
  for (size_t g = first_group; g < num_blocks.size(); ++g) {
    bytes += num_blocks[g] * sizing.groups[g].block_bytes;
  }
  return bytes;
}

/// As many blocks as the memory holds.
std::vector<int> fill_memory(const KvSizing& sizing, int64_t memory_bytes, int num_running) {
  // Block ids and slots are 32-bit numbers.
  int64_t most = (int64_t{1} << 31) / sizing.block_size - 1, least = 0;
  while (least < most) {
    const auto middle = static_cast<int>((least + most + 1) / 2);
    const bool fits =
        bytes_of(sizing, group_blocks(sizing, middle, num_running), 0) <= memory_bytes;
    (fits ? least : most) = fits ? middle : middle - 1;
  }
  return group_blocks(sizing, static_cast<int>(least), num_running);
}

}  // namespace

std::vector<int> split_kv_memory(const KvSizing& sizing, int64_t memory_bytes, int context) {
  std::vector<int> largest_fair;
  for (int num_running = sizing.max_running; num_running >= 1; --num_running) {
    std::vector<int> num_blocks = fill_memory(sizing, memory_bytes, num_running);
    if (max_sequence_tokens(sizing, num_blocks) >= context) return num_blocks;
    const bool is_fair = bytes_of(sizing, num_blocks, 1) <= memory_bytes / 2;
    if (largest_fair.empty() && (is_fair || num_running == 1)) largest_fair = num_blocks;
  }
  return largest_fair;
}

int64_t max_sequence_tokens(const KvSizing& sizing, const std::vector<int>& num_blocks) {
  int64_t num_tokens = std::numeric_limits<int64_t>::max();
  for (size_t g = 0; g < num_blocks.size(); ++g) {
    const KvGroupConfig group{sizing.groups[g].window, num_blocks[g]};
    num_tokens = std::min(num_tokens, max_sequence_tokens(group, sizing.block_size));
  }
  return num_tokens;
}

int64_t min_kv_bytes(const KvSizing& sizing, int context) {
  int num_first = (context + sizing.block_size - 1) / sizing.block_size;
  if (const int window = sizing.groups[0].window; window > 0) {
    num_first = std::min(num_first, num_window_blocks(window, sizing.block_size, 1));
  }
  return bytes_of(sizing, group_blocks(sizing, num_first, 1), 0);
}

}  // namespace wl::kv
