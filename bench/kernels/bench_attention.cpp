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

struct NamedKvType {
  const char* name;
  backend::KvDType dtype;
};
constexpr NamedKvType kKvTypes[] = {{"f16", backend::KvDType::kF16},
                                    {"q8_0", backend::KvDType::kQ8_0},
                                    {"f32", backend::KvDType::kF32}};

/// One layer's cache, with room for `positions` of one sequence.
class OwnedCache {
 public:
  OwnedCache(NamedKvType type, int positions) {
    cache_ = {type.dtype, 1,      (positions + kBlock - 1) / kBlock, kKvHeads, kHeadDim,
              nullptr,    nullptr};
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

void bench_store(const Level& level, NamedKvType type, int tokens) {
  OwnedMatrix k(tokens, kKvHeads * kHeadDim, -1, 1), v = k;
  const std::vector<int32_t> slots = ascending(tokens);
  OwnedCache got(type, tokens), expected(type, tokens);
  const auto store = [&](backend::Ops& ops, const OwnedCache& cache) {
    ops.store_kv(cache.view(), 0, k.view(), v.view(), slots.data());
  };
  store(level.device.ops(), got);
  store(level.reference, expected);
  Load load;
  load.bytes = load.set_bytes =
      2 * k.num_bytes() + static_cast<int64_t>(got.view().k_bytes() + got.view().v_bytes());
  report_case(level,
              std::string("store_kv/") + type.name + "/" + std::to_string(tokens) + "x" +
                  std::to_string(k.view().cols),
              load, got.has_bits_of(expected), [&] { store(level.device.ops(), got); });
}

/// The last `queries` positions of a sequence of `depth` attend to all before them, or to a window.
struct AttentionShape {
  int depth, queries, window;
};

void bench_depth(const Level& level, NamedKvType type, AttentionShape shape) {
  const auto [depth, queries, window] = shape;
  OwnedMatrix keys(depth, kKvHeads * kHeadDim, -1, 1), values = keys;
  OwnedMatrix q(queries, kHeads * kHeadDim, -1, 1), out(queries, kHeads * kHeadDim);
  const OwnedCache cache(type, depth);
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
  params.window = window;
  const auto attend = [&](backend::Ops& ops, backend::Matrix to) {
    ops.paged_attention(to, q.view(), cache.view(), 0, params, batch);
  };
  Load load;
  const auto keys_of = [&](int32_t p) { return window > 0 ? std::min(window, p + 1) : p + 1; };
  for (const int32_t p : positions) load.macs += int64_t{2} * kHeads * kHeadDim * keys_of(p);
  const auto cache_bytes = static_cast<int64_t>(cache.view().k_bytes() + cache.view().v_bytes());
  load.bytes = cache_bytes * keys_of(positions.back()) / depth + q.num_bytes() + out.num_bytes();
  load.set_bytes = load.bytes;
  OwnedMatrix expected = out;
  attend(level.device.ops(), out.view());
  attend(level.reference, expected.view());
  const std::string name =
      std::string("attention/") + type.name + "/depth" + std::to_string(depth) +
      (window > 0 ? "/window" + std::to_string(window) : "") + "/n" + std::to_string(queries);
  report_case(level, name, load, out.has_bits_of(expected),
              [&] { attend(level.device.ops(), out.view()); });
}

}  // namespace

void bench_attention(const Level& level) {
  for (const NamedKvType& type : kKvTypes) {
    for (const int tokens : {1, 64}) bench_store(level, type, tokens);
    for (const int queries : {1, 16}) {
      bench_depth(level, type, {512, queries, 0});
      bench_depth(level, type, {4096, queries, 0});
      bench_depth(level, type, {4096, queries, 512});
    }
  }
}

}  // namespace wl::bench
