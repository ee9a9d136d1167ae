#include "kv/kv_group.h"

#include <algorithm>
#include <limits>

namespace wl::kv {
namespace {

int divide_up(int dividend, int divisor) { return (dividend + divisor - 1) / divisor; }

}  // namespace

int first_needed_block(int window, int block_size, int num_computed) {
  if (window == 0) return 0;
  const int boundary = num_computed / block_size * block_size;
  return std::max(0, boundary - (window - 1)) / block_size;
}

int num_window_blocks(int window, int block_size, int num_tokens) {
  // The window, the block that the first token may share with it, and those of the other tokens.
  return divide_up(window - 1, block_size) + 1 + divide_up(num_tokens - 1, block_size);
}

int64_t max_sequence_tokens(const KvGroupConfig& group, int block_size) {
  const bool can_slide =
      group.window > 0 && num_window_blocks(group.window, block_size, 1) <= group.num_blocks;
  if (can_slide) return std::numeric_limits<int64_t>::max();
  return int64_t{group.num_blocks} * block_size;
}

int max_step_tokens(const KvGroupConfig& group, int block_size, int max_sequence) {
  if (max_sequence <= int64_t{group.num_blocks} * block_size) return max_sequence;
  const int num_spare = group.num_blocks - num_window_blocks(group.window, block_size, 1);
  return num_spare * block_size + 1;
}

}  // namespace wl::kv
