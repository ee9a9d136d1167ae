// Rows of the KV cache: what is stored of each type, and that it depends on the row alone.

#include "cpu/kv_row.h"

#include <algorithm>
#include <cmath>

#include "check.h"
#include "levels.h"

namespace wl::cpu {
namespace {

using backend::KvCache;
using backend::KvDType;

/// A cache of three blocks and two heads.
struct OwnedCache {
  KvCache cache;
  std::vector<uint8_t> k, v;
  OwnedCache(KvDType dtype, int head_dim) {
    cache = {dtype, 1, 3, 2, head_dim, nullptr, nullptr};
    k.resize(cache.k_bytes());
    v.resize(cache.v_bytes());
    cache.k = k.data();
    cache.v = v.data();
  }
};

float read_scale(const uint8_t* scales, int index) {
  float value;
  std::memcpy(&value, scales + 4 * index, 4);
  return value;
}

/// What head 1 of a kQ8_0 slot reads as.
Floats read_keys(const KvCache& cache, int slot) {
  const uint8_t* head = cache.k_block(0, slot / 16, 1);
  Floats row(static_cast<size_t>(cache.head_dim));
  for (int d = 0; d < cache.head_dim; ++d) {
    const float scale = read_scale(head + cache.k_element_bytes(), d / 32 * 16 + slot % 16);
    row[static_cast<size_t>(d)] = static_cast<int8_t>(head[d * 16 + slot % 16]) * scale;
  }
  return row;
}

Floats read_values(const KvCache& cache, int slot) {
  const uint8_t* head = cache.v_block(0, slot / 16, 1);
  Floats row(static_cast<size_t>(cache.head_dim));
  for (int d = 0; d < cache.head_dim; ++d) {
    const float scale = read_scale(head + cache.v_element_bytes(), d / 32 * 16 + slot % 16);
    const uint8_t element = head[slot % 16 * cache.value_stride() + d];
    row[static_cast<size_t>(d)] = static_cast<int8_t>(element) * scale;
  }
  return row;
}

}  // namespace

WL_TEST("kv rows: sizes of a block count scales and padding") {
  const OwnedCache f16(KvDType::kF16, 80), f32(KvDType::kF32, 80), q8(KvDType::kQ8_0, 80);
  WL_CHECK_EQ(f16.cache.k_head_bytes(), size_t{80 * 16 * 2});
  WL_CHECK_EQ(f32.cache.v_head_bytes(), size_t{80 * 16 * 4});
  WL_CHECK_EQ(q8.cache.k_head_bytes(), size_t{80 * 16 + 3 * 16 * 4});  // scales of 32, 32 and 16
  const OwnedCache odd(KvDType::kQ8_0, 40);
  WL_CHECK_EQ(odd.cache.v_head_bytes(), size_t{48 * 16 + 2 * 16 * 4});
}

WL_TEST("kv rows: 8-bit rows are within half a step of 127 in each 32 inputs") {
  std::mt19937 rng(1);
  for (const int head_dim : {8, 32, 40, 64, 90}) {
    OwnedCache owned(KvDType::kQ8_0, head_dim);
    const size_t row = 2 * static_cast<size_t>(head_dim);
    const Floats k = random_floats(rng, row, 3), v = random_floats(rng, row, 0.01f);
    store_kv_row(owned.cache, 0, 21, k.data(), v.data());
    const auto check = [&](const Floats& got, const float* exact) {
      for (int first = 0; first < head_dim; first += 32) {
        const int end = std::min(first + 32, head_dim);
        float amax = 0;
        for (int d = first; d < end; ++d) amax = std::max(amax, std::fabs(exact[d]));
        for (int d = first; d < end; ++d) {
          WL_CHECK(std::fabs(got[static_cast<size_t>(d)] - exact[d]) < amax * 0.501f / 127);
        }
      }
    };
    check(read_keys(owned.cache, 21), k.data() + head_dim);
    check(read_values(owned.cache, 21), v.data() + head_dim);
  }
}

WL_TEST("kv rows: a row's bytes depend on that row only") {
  std::mt19937 rng(2);
  for (const KvDType dtype : {KvDType::kF16, KvDType::kF32, KvDType::kQ8_0}) {
    OwnedCache alone(dtype, 40), between(dtype, 40);
    const Floats k = random_floats(rng, 80, 1), v = random_floats(rng, 80, 1);
    const Floats other = random_floats(rng, 80, 100);
    store_kv_row(alone.cache, 0, 5, k.data(), v.data());
    store_kv_row(between.cache, 0, 5, k.data(), v.data());
    for (const int slot : {4, 6, 20}) {
      store_kv_row(between.cache, 0, slot, other.data(), other.data());
    }
    // Slot 5 still reads the same: what differs lies in the other slots.
    const size_t element = alone.cache.elem_bytes();
    for (size_t i = 0; i < alone.cache.k_element_bytes() / element; ++i) {
      if (i % 16 != 5) continue;
      WL_CHECK(std::memcmp(&alone.k[i * element], &between.k[i * element], element) == 0);
    }
  }
}

WL_TEST("kv rows: zeros, denormals and values that are not finite keep to their 32 inputs") {
  OwnedCache owned(KvDType::kQ8_0, 96);
  Floats k(192, 0.0f);
  for (int d = 96; d < 128; ++d) k[static_cast<size_t>(d)] = 1e-42f;
  k[130] = INFINITY;
  for (int d = 160; d < 192; ++d) k[static_cast<size_t>(d)] = 2;
  store_kv_row(owned.cache, 0, 0, k.data(), k.data());
  const Floats got = read_keys(owned.cache, 0);
  WL_CHECK_EQ(got[0], 0.0f);
  WL_CHECK(std::isnan(got[40]));
  WL_CHECK_EQ(got[70], 2.0f);
}

}  // namespace wl::cpu
