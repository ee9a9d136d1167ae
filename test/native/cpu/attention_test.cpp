// Attention: every level equals the scalar reference bit for bit, however the queries are split,
// with and without windows and sinks.

#include <algorithm>
#include <cmath>

#include "check.h"
#include "cpu/kv_row.h"
#include "levels.h"
#include "quant/dequantize.h"

namespace wl::cpu {
namespace {

struct AttentionCase {
  backend::KvCache cache;
  std::vector<uint8_t> k, v;
  std::vector<int32_t> table;
  Floats q;
  int group = 1, queries = 1, first_position = 0;
  int window = 0;
  Floats sinks;  // of all heads, or empty
};

AttentionCase make_attention(std::mt19937& rng, backend::KvDType dtype, int head_dim, int group,
                             int first_position, int queries) {
  AttentionCase c;
  const int blocks = (first_position + queries + 15) / 16;
  c.cache = {dtype, 1, blocks + 3, 2, head_dim, nullptr, nullptr};
  c.k.resize(c.cache.k_bytes());
  c.v.resize(c.cache.v_bytes());
  c.cache.k = c.k.data();
  c.cache.v = c.v.data();
  const size_t row = static_cast<size_t>(c.cache.num_kv_heads) * head_dim;
  for (int slot = 0; slot < c.cache.num_blocks * 16; ++slot) {
    const Floats keys = random_floats(rng, row, 1), values = random_floats(rng, row, 1);
    store_kv_row(c.cache, 0, slot, keys.data(), values.data());
  }
  for (int b = 0; b < blocks; ++b) c.table.push_back((b * 7 + 2) % (blocks + 3));
  c.group = group;
  c.queries = queries;
  c.first_position = first_position;
  c.q = random_floats(rng, static_cast<size_t>(queries) * group * head_dim, 1.0f);
  return c;
}

/// Gives the case a window and takes the blocks before it away from the table.
void set_window(AttentionCase* c, int window) {
  c->window = window;
  const int first_key = std::max(0, c->first_position + 1 - window);
  for (int b = 0; b < first_key / 16; ++b) c->table[static_cast<size_t>(b)] = -1;
}

Floats attend(const KernelTable& kernels, const AttentionCase& c, int first, int count) {
  Floats out(c.q.size(), 0.0f);
  const int64_t stride = static_cast<int64_t>(c.group) * c.cache.head_dim;
  AttentionArgs args;
  args.cache = c.cache;
  args.kv_head = 1;
  args.group = c.group;
  args.num_queries = count;
  args.first_position = c.first_position + first;
  args.block_table = c.table.data();
  args.q = c.q.data() + first * stride;
  args.out = out.data() + first * stride;
  args.query_stride = stride;
  args.params = {0.125f, c.window, c.sinks.empty() ? nullptr : c.sinks.data()};
  Floats scratch(static_cast<size_t>(args.scratch_floats()));
  args.scratch = scratch.data();
  kernels.attention(args);
  return out;
}

/// Every level gives the reference's bits for all queries at once, in runs and one by one.
void check_splits(const AttentionCase& c) {
  const Floats expected = attend(*ref_kernels(), c, 0, c.queries);
  for (const KernelTable* kernels : simd_levels()) {
    for (const int run : {c.queries, 5, 1}) {
      Floats joined(c.q.size(), 0.0f);
      for (int first = 0; first < c.queries; first += run) {
        const Floats part = attend(*kernels, c, first, std::min(run, c.queries - first));
        for (size_t j = 0; j < part.size(); ++j) joined[j] += part[j];
      }
      WL_CHECK(joined == expected);
    }
  }
}

WL_TEST("cpu: attention equals the reference, whole or query by query") {
  std::mt19937 rng(8);
  for (const auto dtype :
       {backend::KvDType::kF16, backend::KvDType::kF32, backend::KvDType::kQ8_0}) {
    for (const int head_dim : {8, 32, 64, 80, 90}) {
      for (const int group : {1, 2, 3}) {
        check_splits(make_attention(rng, dtype, head_dim, group, 13, 23));
      }
    }
  }
}

WL_TEST("cpu: an infinite value reaches the queries that see it and no earlier one") {
  std::mt19937 rng(14);
  for (const auto dtype : {backend::KvDType::kF16, backend::KvDType::kF32}) {
    AttentionCase c = make_attention(rng, dtype, 64, 3, 13, 23);
    constexpr int kQuery = 12, kKey = 13 + kQuery;
    const Floats keys(128, 0.5f), values(128, INFINITY);
    store_kv_row(c.cache, 0, c.table[kKey / 16] * 16 + kKey % 16, keys.data(), values.data());
    for (const std::string& level : available_levels()) {
      const Floats out = attend(*kernels_for(level).value(), c, 0, c.queries);
      for (size_t i = 0; i < out.size(); ++i) {
        WL_CHECK_EQ(std::isfinite(out[i]), i < static_cast<size_t>(kQuery) * 3 * 64);
      }
    }
  }
}

WL_TEST("cpu: windowed attention leaves earlier blocks alone and does not see its batch") {
  std::mt19937 rng(10);
  for (const int first_position : {0, 13, 70, 79, 80}) {
    for (const int window : {1, 2, 15, 16, 17, 24, 33, 200}) {
      const auto dtype = window % 2 == 0 ? backend::KvDType::kF16 : backend::KvDType::kQ8_0;
      AttentionCase c = make_attention(rng, dtype, 40, 3, first_position, 23);
      set_window(&c, window);
      check_splits(c);
    }
  }
}

/// Attention of one row in float64, from the formula.
std::vector<double> exact_row(const AttentionCase& c, int query, int head) {
  const int position = c.first_position + query, head_dim = c.cache.head_dim;
  const int first = c.window > 0 ? std::max(0, position + 1 - c.window) : 0;
  const float* q = c.q.data() + (static_cast<size_t>(query) * c.group + head) * head_dim;
  const auto element = [&](const uint8_t* bytes, int index) {
    uint16_t half;
    std::memcpy(&half, bytes + 2 * index, 2);
    return static_cast<double>(quant::f16_to_f32(half));
  };
  std::vector<double> out(static_cast<size_t>(head_dim), 0);
  double total = c.sinks.empty() ? 0 : std::exp(static_cast<double>(c.sinks[c.group + head]));
  for (int j = first; j <= position; ++j) {
    const int block = c.table[static_cast<size_t>(j / 16)];
    double score = 0;
    for (int d = 0; d < head_dim; ++d) {
      score += q[d] * element(c.cache.k_block(0, block, 1), d * 16 + j % 16);
    }
    const double weight = std::exp(score * 0.125);
    total += weight;
    for (int d = 0; d < head_dim; ++d) {
      const int index = j % 16 * c.cache.value_stride() + d;
      out[static_cast<size_t>(d)] += weight * element(c.cache.v_block(0, block, 1), index);
    }
  }
  for (double& value : out) value /= total;
  return out;
}

WL_TEST("cpu: attention is its formula, with windows and sinks") {
  std::mt19937 rng(11);
  for (const int window : {0, 7, 40}) {
    for (const bool has_sinks : {false, true}) {
      AttentionCase c = make_attention(rng, backend::KvDType::kF16, 40, 2, 37, 9);
      if (window > 0) set_window(&c, window);
      // Two KV heads of two query heads; the second KV head is the one attended to. One sink far
      // above every score, one far below.
      if (has_sinks) c.sinks = {NAN, NAN, 30.0f, -30.0f};
      check_splits(c);
      const Floats got = attend(*ref_kernels(), c, 0, c.queries);
      for (int row = 0; row < c.queries * c.group; ++row) {
        const std::vector<double> exact = exact_row(c, row / c.group, row % c.group);
        for (size_t d = 0; d < exact.size(); ++d) {
          WL_CHECK(std::fabs(got[static_cast<size_t>(row) * exact.size() + d] - exact[d]) < 2e-6);
        }
      }
    }
  }
}

WL_TEST("cpu: a key beyond a query's position cannot reach it") {
  std::mt19937 rng(9);
  AttentionCase c = make_attention(rng, backend::KvDType::kF16, 32, 3, 0, 5);
  const Floats expected = attend(*ref_kernels(), c, 0, 5);
  // Slots 5..15 of the block are not written yet: NaN there must not leak.
  for (int d = 0; d < 32; ++d) {
    for (int slot = 5; slot < 16; ++slot) {
      const uint16_t nan = 0x7e00;
      std::memcpy(c.cache.k_block(0, c.table[0], 1) + 2 * (d * 16 + slot), &nan, 2);
      std::memcpy(c.cache.v_block(0, c.table[0], 1) + 2 * (slot * 32 + d), &nan, 2);
    }
  }
  for (const std::string& level : available_levels()) {
    WL_CHECK(same_bits(expected, attend(*kernels_for(level).value(), c, 0, 5)));
  }
}

}  // namespace
}  // namespace wl::cpu
