// `store_kv` and `paged_attention` of one layer of a 135M llama: 9 query heads on 3 KV heads of 64.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "level.h"
#include "random_matrix.h"

namespace wl::bench {

namespace {

constexpr int kHeads = 9, kKvHeads = 3, kHeadDim = 64;
constexpr int kBlock = backend::kKvBlockSize;

/// One layer's cache, with room for `positions` of one sequence.
class OwnedCache {
 public:
  explicit OwnedCache(int positions) {
    cache_ = {backend::KvDType::kF16,
              1,
              (positions + kBlock - 1) / kBlock,
              kKvHeads,
              kHeadDim,
              nullptr,
              nullptr};
    k_.resize(cache_.k_bytes());
    v_.resize(cache_.v_bytes());
    cache_.k = k_.data();
    cache_.v = v_.data();
  }
  const backend::KvCache& view() const { return cache_; }
  bool has_bits_of(const OwnedCache& other) const { return k_ == other.k_ && v_ == other.v_; }

 private:
  std::vector<uint8_t> k_, v_;
  backend::KvCache cache_;
};

std::vector<int32_t> ascending(int count, int first = 0) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

void bench_store(const Level& level, int tokens) {
  OwnedMatrix k(tokens, kKvHeads * kHeadDim, -1, 1), v = k;
  const std::vector<int32_t> slots = ascending(tokens);
  OwnedCache got(tokens), expected(tokens);
  const auto store = [&](backend::Ops& ops, const OwnedCache& cache) {
    ops.store_kv(cache.view(), 0, k.view(), v.view(), slots.data());
  };
  store(level.device.ops(), got);
  store(level.reference, expected);
  Load load;
  load.bytes = load.set_bytes = 2 * k.num_bytes() + k.num_bytes();  // float32 in, float16 out
  report_case(level, "store_kv/" + std::to_string(tokens) + "x" + std::to_string(k.view().cols),
              load, got.has_bits_of(expected), [&] { store(level.device.ops(), got); });
}

/// The last `queries` positions of a sequence of `depth` attend to all before them.
void bench_depth(const Level& level, int depth, int queries) {
  OwnedMatrix keys(depth, kKvHeads * kHeadDim, -1, 1), values = keys;
  OwnedMatrix q(queries, kHeads * kHeadDim, -1, 1), out(queries, kHeads * kHeadDim);
  const OwnedCache cache(depth);
  const std::vector<int32_t> positions = ascending(queries, depth - queries);
  std::vector<int32_t> blocks = ascending(cache.view().num_blocks);
  std::reverse(blocks.begin(), blocks.end());  // a cache in use has no order
  level.reference.store_kv(cache.view(), 0, keys.view(), values.view(), ascending(depth).data());
  const int32_t cu_seqlens_q[] = {0, queries};
  const int32_t table_starts[] = {0, cache.view().num_blocks};
  const backend::AttentionBatch batch{1, cu_seqlens_q, positions.data(), blocks.data(),
                                      table_starts};
  backend::AttentionParams params;
  params.scale = 1 / std::sqrt(static_cast<float>(kHeadDim));
  const auto attend = [&](backend::Ops& ops, backend::Matrix to) {
    ops.paged_attention(to, q.view(), cache.view(), 0, params, batch);
  };
  Load load;
  for (const int32_t p : positions) load.macs += int64_t{2} * kHeads * kHeadDim * (p + 1);
  load.bytes = static_cast<int64_t>(cache.view().k_bytes() + cache.view().v_bytes()) +
               q.num_bytes() + out.num_bytes();
  load.set_bytes = load.bytes;
  OwnedMatrix expected = out;
  attend(level.device.ops(), out.view());
  attend(level.reference, expected.view());
  report_case(level, "attention/depth" + std::to_string(depth) + "/n" + std::to_string(queries),
              load, out.has_bits_of(expected), [&] { attend(level.device.ops(), out.view()); });
}

}  // namespace

void bench_attention(const Level& level) {
  for (const int tokens : {1, 64}) bench_store(level, tokens);
  for (const int depth : {512, 4096}) {
    for (const int queries : {1, 16}) bench_depth(level, depth, queries);
  }
}

}  // namespace wl::bench
