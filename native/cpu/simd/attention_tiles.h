#pragma once
// The inner loops of attention over one block of the KV cache: scores of a tile of query rows, and
// their weighted values. See cpu/simd/linear_tiles.h for what V is. A tile keeps one accumulator
// vector for each row and block (or value vector), V::kTileVectors at most, so that every K or V
// vector is loaded once for all its rows and enough independent chains run to hide the latency of a
// multiply-add.

#include "cpu/kernels.h"
#include "cpu/simd/elementwise_kernels.h"

namespace wl::cpu::simd {

using backend::kKvBlockSize;
using backend::kKvScaleInputs;
using backend::KvDType;

constexpr int least(int a, int b) { return a < b ? a : b; }
constexpr int largest(int a, int b) { return a > b ? a : b; }
constexpr int whole_blocks_below(int key) { return key / kKvBlockSize * kKvBlockSize; }
constexpr int whole_blocks_above(int key) { return whole_blocks_below(key + kKvBlockSize - 1); }

/// Keys [begin, end), none when end <= begin.
struct KeyRange {
  int begin, end;
  bool is_empty() const { return end <= begin; }
  KeyRange within(KeyRange other) const {
    return {largest(begin, other.begin), least(end, other.end)};
  }
};

/// K or V of one head in one block: as the cache has it, or converted to floats.
struct HeadBlock {
  const uint8_t* elements;
  const float* scales;  // of kQ8_0
};

/// 16 elements from `index` on; `scale` is used by kQ8_0 alone.
template <class V, KvDType kType>
typename V::F load_elements(const uint8_t* elements, int64_t index, typename V::F scale) {
  if constexpr (kType == KvDType::kF32) {
    return V::load(reinterpret_cast<const float*>(elements) + index);
  } else if constexpr (kType == KvDType::kF16) {
    return V::load_f16(elements + 2 * index);
  } else {
    return V::mul(V::to_float(V::load_i8(elements + index)), scale);
  }
}

/// Scales of the inputs from `part` on, a multiple of 32, of the 16 keys of a block.
template <class V, KvDType kType>
typename V::F load_key_scales(const HeadBlock& block, int part) {
  if constexpr (kType != KvDType::kQ8_0) return V::zero();
  return V::load(block.scales + part / kKvScaleInputs * kKvBlockSize);
}

/// Input d of the 16 keys of a block.
template <class V, KvDType kType>
typename V::F load_keys(const HeadBlock& block, int d, typename V::F scales) {
  return load_elements<V, kType>(block.elements, static_cast<int64_t>(d) * kKvBlockSize, scales);
}

/// 16 values from d on of the key in `slot`.
template <class V, KvDType kType>
typename V::F load_values(const HeadBlock& block, int slot, int d, int stride) {
  typename V::F scale = V::zero();
  if constexpr (kType == KvDType::kQ8_0) {
    scale = V::set1(block.scales[d / kKvScaleInputs * kKvBlockSize + slot]);
  }
  return load_elements<V, kType>(block.elements, static_cast<int64_t>(slot) * stride + d, scale);
}

/// out[r][16 b + j] = scale * (fma chain over head_dim of q[r] and key j of block b).
template <class V, KvDType kType, int kRows, int kBlocks>
void score_tile(const float* const* q, const HeadBlock* blocks, int head_dim, float scale,
                float* const* out) {
  typename V::F acc[kRows][kBlocks];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) acc[r][b] = V::zero();
  }
  for (int part = 0; part < head_dim; part += kKvScaleInputs) {
    typename V::F scales[kBlocks], k[kBlocks];
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) scales[b] = load_key_scales<V, kType>(blocks[b], part);
    const int part_end = least(part + kKvScaleInputs, head_dim);
    for (int d = part; d < part_end; ++d) {
#pragma GCC unroll 4
      for (int b = 0; b < kBlocks; ++b) k[b] = load_keys<V, kType>(blocks[b], d, scales[b]);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const typename V::F x = V::set1(q[r][d]);
#pragma GCC unroll 4
        for (int b = 0; b < kBlocks; ++b) acc[r][b] = V::fma(x, k[b], acc[r][b]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) {
      V::store(out[r] + b * kKvBlockSize, V::mul(acc[r][b], V::set1(scale)));
    }
  }
}

/// sums[r][d...] += weights[r][key] * value, key after key, for kVectors vectors of head_dim from d
/// on. block_at(first) is the block whose first key is `first`.
template <class V, KvDType kType, int kRows, int kVectors, class BlockAt>
void value_tile(const float* const* weights, KeyRange keys, const BlockAt& block_at, int d,
                int stride, float* const* sums) {
  typename V::F acc[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) acc[r][i] = V::load(sums[r] + d + i * kLanes);
  }
  for (int key = keys.begin; key < keys.end;) {
    const int first = whole_blocks_below(key), end = least(first + kKvBlockSize, keys.end);
    const HeadBlock block = block_at(first);
    for (; key < end; ++key) {
      typename V::F v[kVectors];
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        v[i] = load_values<V, kType>(block, key - first, d + i * kLanes, stride);
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const typename V::F weight = V::set1(weights[r][key]);
#pragma GCC unroll 4
        for (int i = 0; i < kVectors; ++i) acc[r][i] = V::fma(weight, v[i], acc[r][i]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) V::store(sums[r] + d + i * kLanes, acc[r][i]);
  }
}

/// K of a block as floats [head_dim][16].
template <class V, KvDType kType>
void convert_keys(const HeadBlock& block, int head_dim, float* out) {
  for (int d = 0; d < head_dim; ++d) {
    const typename V::F scales = load_key_scales<V, kType>(block, d);
    V::store(out + static_cast<int64_t>(d) * kKvBlockSize, load_keys<V, kType>(block, d, scales));
  }
}

/// V of the first slots of a block as floats [num_slots][stride].
template <class V, KvDType kType>
void convert_values(const HeadBlock& block, int num_slots, int stride, float* out) {
  for (int slot = 0; slot < num_slots; ++slot) {
    for (int d = 0; d < stride; d += kLanes) {
      V::store(out + static_cast<int64_t>(slot) * stride + d,
               load_values<V, kType>(block, slot, d, stride));
    }
  }
}

}  // namespace wl::cpu::simd
