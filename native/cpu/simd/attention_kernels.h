#pragma once
// Paged causal attention over 16 lanes, written once for every instruction set; see
// cpu/simd/linear_kernels.h for what V is. Two passes: scores of all keys (16 keys a vector, thanks
// to the transposed K blocks), then weighted values (16 of head_dim a vector). Rows of a KV head's
// query group share every K and V vector. Equal to cpu/ref/attention_ref.cpp bit for bit.

#include "cpu/simd/elementwise_kernels.h"

namespace wl::cpu::simd {

using backend::kKvBlockSize;
using backend::KvDType;

constexpr int kRowTile =
    4;  // query rows that share a K or V vector: 4 x 16 lanes fit 16 ymm registers

template <class V, KvDType kType>
typename V::F load_cache(const uint8_t* bytes, int64_t index) {
  if constexpr (kType == KvDType::kF32) {
    return V::load(reinterpret_cast<const float*>(bytes) + index);
  } else {
    return V::load_f16(bytes + 2 * index);
  }
}

/// The rows of one call and where their scores (then weights) and outputs lie.
struct AttentionRows {
  const AttentionArgs& args;
  int num_rows;
  int64_t padded_keys;  // floats of scratch a row

  explicit AttentionRows(const AttentionArgs& a)
      : args(a),
        num_rows(a.num_queries * a.group),
        padded_keys((a.first_position + a.num_queries + kLanes - 1) / kLanes * kLanes) {}
  int64_t offset(int row) const {
    return row / args.group * args.query_stride +
           static_cast<int64_t>(row % args.group) * args.cache.head_dim;
  }
  int num_keys(int row) const { return args.first_position + row / args.group + 1; }
  float* weights(int row) const { return args.scratch + row * padded_keys; }
};

/// Scores of kRows rows against every key that the last of them sees.
template <class V, KvDType kType, int kRows>
void score_rows(const AttentionRows& rows, int row) {
  const AttentionArgs& args = rows.args;
  const int num_blocks = (rows.num_keys(row + kRows - 1) + kKvBlockSize - 1) / kKvBlockSize;
  const float* q[kRows];
  for (int r = 0; r < kRows; ++r) q[r] = args.q + rows.offset(row + r);
  for (int b = 0; b < num_blocks; ++b) {
    const uint8_t* keys = args.cache.k_block(args.layer, args.block_table[b], args.kv_head);
    typename V::F acc[kRows];
    for (int r = 0; r < kRows; ++r) acc[r] = V::zero();
    for (int d = 0; d < args.cache.head_dim; ++d) {
      const typename V::F k = load_cache<V, kType>(keys, static_cast<int64_t>(d) * kKvBlockSize);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) acc[r] = V::fma(V::set1(q[r][d]), k, acc[r]);
    }
    for (int r = 0; r < kRows; ++r) {
      V::store(rows.weights(row + r) + b * kKvBlockSize, V::mul(acc[r], V::set1(args.scale)));
    }
  }
}

/// Turns a row's scores into exp weights, zero beyond its keys; returns their sum.
template <class V>
float softmax_row(const AttentionRows& rows, int row, int padded_keys) {
  float* weights = rows.weights(row);
  const int num_keys = rows.num_keys(row);
  for (int j = num_keys; j < padded_keys; ++j) weights[j] = -__builtin_inff();
  typename V::F largest_lanes = V::set1(-__builtin_inff());
  for (int j = 0; j < num_keys; j += kLanes) {
    largest_lanes = V::max(largest_lanes, V::load(weights + j));
  }
  float lanes[kLanes];
  V::store(lanes, largest_lanes);
  float largest = lanes[0];
  for (int j = 1; j < kLanes; ++j) largest = lanes[j] > largest ? lanes[j] : largest;
  for (int j = 0; j < num_keys; j += kLanes) {
    V::store(weights + j, exp_lanes<V>(V::sub(V::load(weights + j), V::set1(largest))));
  }
  for (int j = num_keys; j < padded_keys; ++j) weights[j] = 0;
  typename V::F total = V::zero();
  for (int j = 0; j < num_keys; j += kLanes) total = V::add(total, V::load(weights + j));
  return lane_tree_sum<V>(total);
}

/// Weighted values of kRows rows. A weight of a key that a row does not see is zero and changes
/// nothing.
template <class V, KvDType kType, int kRows>
void weighted_values(const AttentionRows& rows, int row, const float* totals) {
  const AttentionArgs& args = rows.args;
  const int num_keys = rows.num_keys(row + kRows - 1);
  const int stride = args.cache.value_stride();
  const float* weights[kRows];
  for (int r = 0; r < kRows; ++r) weights[r] = rows.weights(row + r);
  for (int d = 0; d < args.cache.head_dim; d += kLanes) {
    typename V::F acc[kRows];
    for (int r = 0; r < kRows; ++r) acc[r] = V::zero();
    for (int first = 0; first < num_keys; first += kKvBlockSize) {
      const uint8_t* values =
          args.cache.v_block(args.layer, args.block_table[first / kKvBlockSize], args.kv_head);
      const int end = num_keys - first < kKvBlockSize ? num_keys - first : kKvBlockSize;
      for (int j = 0; j < end; ++j) {
        const typename V::F v = load_cache<V, kType>(values, static_cast<int64_t>(j) * stride + d);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) acc[r] = V::fma(V::set1(weights[r][first + j]), v, acc[r]);
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
  const int num_keys = rows.num_keys(row + kRows - 1);
  const int padded_keys = (num_keys + kLanes - 1) / kLanes * kLanes;
  float totals[kRows];
  for (int r = 0; r < kRows; ++r) totals[r] = softmax_row<V>(rows, row + r, padded_keys);
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
  if (args.cache.dtype == KvDType::kF32) {
    attend<V, KvDType::kF32>(rows);
  } else {
    attend<V, KvDType::kF16>(rows);
  }
}

}  // namespace wl::cpu::simd
