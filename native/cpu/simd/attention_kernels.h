#pragma once
// Paged causal attention over 16 lanes, written once for every instruction set; see
// cpu/simd/linear_kernels.h for what V is. Two passes: scores of all keys (16 keys a vector, thanks
// to the transposed K blocks), then weighted values (16 of head_dim a vector). Rows of a KV head's
// query group share every K and V vector. Equal to cpu/ref/attention_ref.cpp bit for bit.

#include "cpu/simd/elementwise_kernels.h"

namespace wl::cpu::simd {

using backend::kKvBlockSize;
using backend::kKvScaleInputs;
using backend::KvDType;

constexpr int kRowTile =
    4;  // query rows that share a K or V vector: 4 x 16 lanes fit 16 ymm registers

/// 16 elements of the cache; `scale` is used by kQ8_0 alone.
template <class V, KvDType kType>
typename V::F load_cache(const uint8_t* elements, int64_t index, typename V::F scale) {
  if constexpr (kType == KvDType::kF32) {
    return V::load(reinterpret_cast<const float*>(elements) + index);
  } else if constexpr (kType == KvDType::kF16) {
    return V::load_f16(elements + 2 * index);
  } else {
    return V::mul(V::to_float(V::load_i8(elements + index)), scale);
  }
}

/// The rows of one call and where their scores (then weights) and outputs lie.
struct AttentionRows {
  const AttentionArgs& args;
  int num_rows;
  int first_scored_key;
  int64_t scored_keys;  // floats of scratch a row

  explicit AttentionRows(const AttentionArgs& a)
      : args(a),
        num_rows(a.num_queries * a.group),
        first_scored_key(a.first_scored_key()),
        scored_keys(a.scored_keys()) {}
  int64_t offset(int row) const {
    return row / args.group * args.query_stride +
           static_cast<int64_t>(row % args.group) * args.cache.head_dim;
  }
  int first_key(int row) const { return args.first_key(row / args.group); }
  int num_keys(int row) const { return args.num_keys(row / args.group); }
  const float* sink(int row) const { return args.sink(row % args.group); }
  /// Weight of key 0; only those of scored keys exist.
  float* weights(int row) const { return args.scratch + row * scored_keys - first_scored_key; }
};

constexpr int whole_blocks_below(int key) { return key / kKvBlockSize * kKvBlockSize; }
constexpr int least(int a, int b) { return a < b ? a : b; }
constexpr int whole_blocks_above(int key) { return whole_blocks_below(key + kKvBlockSize - 1); }

/// Scores of kRows rows against the blocks of every key that one of them sees.
template <class V, KvDType kType, int kRows>
void score_rows(const AttentionRows& rows, int row) {
  const AttentionArgs& args = rows.args;
  const int end = rows.num_keys(row + kRows - 1);
  const float* q[kRows];
  for (int r = 0; r < kRows; ++r) q[r] = args.q + rows.offset(row + r);
  for (int first = whole_blocks_below(rows.first_key(row)); first < end; first += kKvBlockSize) {
    const uint8_t* keys =
        args.cache.k_block(args.layer, args.block_table[first / kKvBlockSize], args.kv_head);
    typename V::F acc[kRows];
    for (int r = 0; r < kRows; ++r) acc[r] = V::zero();
    const auto* scales = reinterpret_cast<const float*>(keys + args.cache.k_element_bytes());
    for (int part = 0; part < args.cache.head_dim; part += kKvScaleInputs) {
      typename V::F scale = V::zero();
      if constexpr (kType == KvDType::kQ8_0) {
        scale = V::load(scales + part / kKvScaleInputs * kKvBlockSize);
      }
      const int part_end = least(part + kKvScaleInputs, args.cache.head_dim);
      for (int d = part; d < part_end; ++d) {
        const typename V::F k =
            load_cache<V, kType>(keys, static_cast<int64_t>(d) * kKvBlockSize, scale);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) acc[r] = V::fma(V::set1(q[r][d]), k, acc[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      V::store(rows.weights(row + r) + first, V::mul(acc[r], V::set1(args.params.scale)));
    }
  }
}

/// Turns a row's scores of keys [begin, end), whole blocks, into exp weights, zero for keys that it
/// does not see; returns their sum.
template <class V>
float softmax_row(const AttentionRows& rows, int row, int begin, int end) {
  float* weights = rows.weights(row);
  const int first_key = rows.first_key(row), num_keys = rows.num_keys(row);
  const float* sink = rows.sink(row);
  const auto fill_unseen = [&](float value) {
    for (int j = begin; j < first_key; ++j) weights[j] = value;
    for (int j = num_keys; j < end; ++j) weights[j] = value;
  };
  fill_unseen(-__builtin_inff());
  typename V::F largest_lanes = V::set1(sink != nullptr ? *sink : -__builtin_inff());
  for (int j = begin; j < end; j += kLanes) {
    largest_lanes = V::max(largest_lanes, V::load(weights + j));
  }
  float lanes[kLanes];
  V::store(lanes, largest_lanes);
  float largest = lanes[0];
  for (int j = 1; j < kLanes; ++j) largest = lanes[j] > largest ? lanes[j] : largest;
  for (int j = begin; j < end; j += kLanes) {
    V::store(weights + j, exp_lanes<V>(V::sub(V::load(weights + j), V::set1(largest))));
  }
  fill_unseen(0);
  typename V::F total_lanes = V::zero();
  for (int j = begin; j < end; j += kLanes) {
    total_lanes = V::add(total_lanes, V::load(weights + j));
  }
  const float total = lane_tree_sum<V>(total_lanes);
  if (sink == nullptr) return total;
  V::store(lanes, exp_lanes<V>(V::set1(*sink - largest)));
  return total + lanes[0];
}

/// Weighted values of kRows rows. A weight of a key that a row does not see is zero and changes
/// nothing.
template <class V, KvDType kType, int kRows>
void weighted_values(const AttentionRows& rows, int row, const float* totals) {
  const AttentionArgs& args = rows.args;
  const int begin = rows.first_key(row), end = rows.num_keys(row + kRows - 1);
  const int stride = args.cache.value_stride();
  const float* weights[kRows];
  for (int r = 0; r < kRows; ++r) weights[r] = rows.weights(row + r);
  for (int d = 0; d < args.cache.head_dim; d += kLanes) {
    typename V::F acc[kRows];
    for (int r = 0; r < kRows; ++r) acc[r] = V::zero();
    for (int key = begin; key < end;) {
      const uint8_t* values =
          args.cache.v_block(args.layer, args.block_table[key / kKvBlockSize], args.kv_head);
      const auto* scales = reinterpret_cast<const float*>(values + args.cache.v_element_bytes());
      const int last = least(whole_blocks_below(key) + kKvBlockSize, end);
      for (; key < last; ++key) {
        const int slot = key % kKvBlockSize;
        typename V::F scale = V::zero();
        if constexpr (kType == KvDType::kQ8_0) {
          scale = V::set1(scales[d / kKvScaleInputs * kKvBlockSize + slot]);
        }
        const typename V::F v =
            load_cache<V, kType>(values, static_cast<int64_t>(slot) * stride + d, scale);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) acc[r] = V::fma(V::set1(weights[r][key]), v, acc[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      store_partial<V>(args.out + rows.offset(row + r) + d, V::div(acc[r], V::set1(totals[r])),
                       args.cache.head_dim - d);
    }
  }
}

template <class V, KvDType kType, int kRows>
void attend_rows(const AttentionRows& rows, int row) {
  score_rows<V, kType, kRows>(rows, row);
  const int begin = whole_blocks_below(rows.first_key(row));
  const int end = whole_blocks_above(rows.num_keys(row + kRows - 1));
  float totals[kRows];
  for (int r = 0; r < kRows; ++r) totals[r] = softmax_row<V>(rows, row + r, begin, end);
  weighted_values<V, kType, kRows>(rows, row, totals);
}

template <class V, KvDType kType>
void attend(const AttentionRows& rows) {
  int row = 0;
  for (; row + kRowTile <= rows.num_rows; row += kRowTile)
    attend_rows<V, kType, kRowTile>(rows, row);
  switch (rows.num_rows - row) {
    case 3:
      attend_rows<V, kType, 3>(rows, row);
      break;
    case 2:
      attend_rows<V, kType, 2>(rows, row);
      break;
    case 1:
      attend_rows<V, kType, 1>(rows, row);
      break;
    default:
      break;
  }
}

template <class V>
void attention(const AttentionArgs& args) {
  const AttentionRows rows(args);
  switch (args.cache.dtype) {
    case KvDType::kF16:
      return attend<V, KvDType::kF16>(rows);
    case KvDType::kF32:
      return attend<V, KvDType::kF32>(rows);
    case KvDType::kQ8_0:
      return attend<V, KvDType::kQ8_0>(rows);
  }
}

}  // namespace wl::cpu::simd
