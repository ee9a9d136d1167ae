#include "kv/kv_sizing.h"

#include "check.h"

using namespace wl::kv;

namespace {

constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

KvSizing sizing(std::vector<KvGroupCost> groups) { return {std::move(groups), 16, 16, 512}; }

int64_t bytes_of(const KvSizing& sizing, const std::vector<int>& num_blocks) {
  int64_t bytes = 0;
  for (size_t g = 0; g < num_blocks.size(); ++g) {
    bytes += num_blocks[g] * sizing.groups[g].block_bytes;
  }
  return bytes;
}

}  // namespace

WL_TEST("kv sizing: one group gets all the memory") {
  const KvSizing one = sizing({{0, 100 * kKiB}});
  WL_CHECK_EQ(split_kv_memory(one, kGiB, 8192)[0], static_cast<int>(kGiB / (100 * kKiB)));
  WL_CHECK_EQ(max_sequence_tokens(one, {10}), 160);
  WL_CHECK_EQ(min_kv_bytes(one, 161), 11 * 100 * kKiB);
}

WL_TEST("kv sizing: windows get what running sequences need and a share for cached turns") {
  const KvSizing gemma = sizing({{0, 48 * kKiB}, {512, 240 * kKiB}});
  const std::vector<int> blocks = split_kv_memory(gemma, kGiB, 32768);
  // A chunk with its window, 15 more windows, an eighth of the first group's blocks.
  WL_CHECK_EQ(blocks[1], (32 + 1 + 32) + 15 * (32 + 1) + blocks[0] / 8);
  WL_CHECK(bytes_of(gemma, blocks) <= kGiB);
  WL_CHECK(bytes_of(gemma, blocks) > kGiB - kMiB);
  WL_CHECK(blocks[0] > 3 * static_cast<int>(kGiB / (288 * kKiB)));  // 3 times the history
}

WL_TEST("kv sizing: groups are equal where the windows hold all that fits") {
  const KvSizing small = sizing({{0, 48 * kKiB}, {512, 240 * kKiB}});
  const std::vector<int> blocks = split_kv_memory(small, 64 * kMiB, 2048);
  WL_CHECK_EQ(blocks[0], blocks[1]);
  WL_CHECK_EQ(blocks[0], static_cast<int>(64 * kMiB / (288 * kKiB)));
}

WL_TEST("kv sizing: fewer sequences get a window where the context would not fit otherwise") {
  const KvSizing gemma = sizing({{0, 48 * kKiB}, {512, 240 * kKiB}});
  const int64_t least = min_kv_bytes(gemma, 32768);
  WL_CHECK_EQ(max_sequence_tokens(gemma, split_kv_memory(gemma, least, 32768)), 32768);
  WL_CHECK(max_sequence_tokens(gemma, split_kv_memory(gemma, least - 1, 32768)) < 32768);
  WL_CHECK(least < 2048 * 288 * kKiB / 2);
}

WL_TEST("kv sizing: where no context fits, windows leave half of the memory to the first group") {
  const KvSizing large = sizing({{0, 400 * kKiB}, {128, 400 * kKiB}});
  const std::vector<int> blocks = split_kv_memory(large, kGiB, 10'000'000);
  WL_CHECK(blocks[1] * 400 * kKiB <= kGiB / 2);
  WL_CHECK(blocks[1] >= 16 * 9 + 32);  // all sixteen windows
}

WL_TEST("kv sizing: a model with windows only holds any context once it holds a window") {
  const KvSizing mistral = sizing({{4096, kMiB}});
  WL_CHECK(max_sequence_tokens(mistral, split_kv_memory(mistral, kGiB, 32768)) >= 32768);
  WL_CHECK_EQ(min_kv_bytes(mistral, 32768), 257 * kMiB);
  WL_CHECK_EQ(min_kv_bytes(mistral, 160), 10 * kMiB);
  WL_CHECK_EQ(max_sequence_tokens(mistral, split_kv_memory(mistral, 256 * kMiB, 32768)), 4096);
}
