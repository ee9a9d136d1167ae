#pragma once
// Paged causal attention over 16 lanes, written once for every instruction set; see
// cpu/simd/linear_tiles.h for what V is. Two passes over the blocks of the cache: scores of all
// keys (16 keys a vector, thanks to the transposed K blocks), then weighted values (16 of head_dim
// a vector). The rows of a KV head's query group share every K and V vector; more rows than a tile
// holds share the conversion of a block to floats. Equal to cpu/ref/attention_ref.cpp bit for bit.

#include "cpu/simd/attention_tiles.h"
#include "cpu/simd/elementwise_kernels.h"

namespace wl::cpu::simd {

/// Blocks (or value vectors) that kRows rows take at once, each vector of them an accumulator a
/// row.
template <class V>
constexpr int vectors_at_once(int rows) {
  return rows * 4 <= V::kTileVectors ? 4 : rows * 2 <= V::kTileVectors ? 2 : 1;
}

/// The rows of one call and where their scores (then weights), output sums and one converted block
/// lie in the scratch.
struct AttentionRows {
  const AttentionArgs& args;
  int num_rows;
  int first_scored_key;
  int64_t scored_keys;  // floats of scratch a row
  int stride;           // floats of output sums a row

  explicit AttentionRows(const AttentionArgs& a)
      : args(a),
        num_rows(a.num_queries * a.group),
        first_scored_key(a.first_scored_key()),
        scored_keys(a.scored_keys()),
        stride(a.cache.value_stride()) {}
  int64_t offset(int row) const {
    return row / args.group * args.query_stride +
           static_cast<int64_t>(row % args.group) * args.cache.head_dim;
  }
  int end_key() const { return args.num_keys(args.num_queries - 1); }
  KeyRange keys(int row) const {
    return {args.first_key(row / args.group), args.num_keys(row / args.group)};
  }
  /// The keys that all rows see.
  KeyRange common_keys() const { return {keys(num_rows - 1).begin, keys(0).end}; }
  const float* sink(int row) const { return args.sink(row % args.group); }
  const float* query(int row) const { return args.q + offset(row); }
  /// Weight of key 0; only those of scored keys exist.
  float* weights(int row) const { return args.scratch + row * scored_keys - first_scored_key; }
  float* sums(int row) const {
    return args.scratch + num_rows * scored_keys + static_cast<int64_t>(row) * stride;
  }
  float* totals() const { return sums(num_rows); }
  float* converted_block() const { return totals() + num_rows; }
  HeadBlock key_block(int first) const {
    const backend::KvCache& cache = args.cache;
    const uint8_t* elements =
        cache.k_block(args.layer, args.block_table[first / kKvBlockSize], args.kv_head);
    return {elements, reinterpret_cast<const float*>(elements + cache.k_element_bytes())};
  }
  HeadBlock value_block(int first) const {
    const backend::KvCache& cache = args.cache;
    const uint8_t* elements =
        cache.v_block(args.layer, args.block_table[first / kKvBlockSize], args.kv_head);
    return {elements, reinterpret_cast<const float*>(elements + cache.v_element_bytes())};
  }
};

/// A number of rows known at compile time.
template <int kCount>
struct RowCount {
  static constexpr int kRows = kCount;
};

template <int kMaxRows, class Body>
void with_row_count(int rows, const Body& body) {
  if (rows == kMaxRows) {
    body(RowCount<kMaxRows>{});
  } else if constexpr (kMaxRows > 1) {
    with_row_count<kMaxRows - 1>(rows, body);
  }
}

/// body(RowCount, first row) over all rows, in tiles of nearly equal size.
template <class V, class Body>
void over_row_tiles(int num_rows, const Body& body) {
  const int num_tiles = (num_rows + V::kTileRows - 1) / V::kTileRows;
  for (int tile = 0; tile < num_tiles; ++tile) {
    const int row = num_rows * tile / num_tiles, end = num_rows * (tile + 1) / num_tiles;
    with_row_count<V::kTileRows>(end - row, [&](auto count) { body(count, row); });
  }
}

/// Scores of kRows rows against kBlocks blocks from key `first` on.
template <class V, KvDType kType, int kRows, int kBlocks>
void score_blocks(const AttentionRows& rows, int row, int first, const HeadBlock* blocks) {
  const float* q[kRows];
  float* out[kRows];
  for (int r = 0; r < kRows; ++r) {
    q[r] = rows.query(row + r);
    out[r] = rows.weights(row + r) + first;
  }
  score_tile<V, kType, kRows, kBlocks>(q, blocks, rows.args.cache.head_dim, rows.args.params.scale,
                                       out);
}

/// One tile of rows, straight from the cache.
template <class V, KvDType kType, int kRows>
void score_one_tile(const AttentionRows& rows) {
  constexpr int kBlocks = vectors_at_once<V>(kRows);
  const int end = rows.end_key();
  int first = rows.first_scored_key;
  HeadBlock blocks[kBlocks];
  for (; first + (kBlocks - 1) * kKvBlockSize < end; first += kBlocks * kKvBlockSize) {
    for (int b = 0; b < kBlocks; ++b) blocks[b] = rows.key_block(first + b * kKvBlockSize);
    score_blocks<V, kType, kRows, kBlocks>(rows, 0, first, blocks);
  }
  for (; first < end; first += kKvBlockSize) {
    blocks[0] = rows.key_block(first);
    score_blocks<V, kType, kRows, 1>(rows, 0, first, blocks);
  }
}

/// Many tiles of rows: each block is converted once.
template <class V, KvDType kType>
void score_many_tiles(const AttentionRows& rows) {
  for (int first = rows.first_scored_key; first < rows.end_key(); first += kKvBlockSize) {
    HeadBlock block = rows.key_block(first);
    if constexpr (kType != KvDType::kF32) {
      convert_keys<V, kType>(block, rows.args.cache.head_dim, rows.converted_block());
      block = {reinterpret_cast<const uint8_t*>(rows.converted_block()), nullptr};
    }
    over_row_tiles<V>(rows.num_rows, [&](auto count, int row) {
      score_blocks<V, KvDType::kF32, count.kRows, 1>(rows, row, first, &block);
    });
  }
}

/// Turns a row's scores into exp weights, zero for keys in its blocks that it does not see; returns
/// their sum.
template <class V>
float softmax_row(const AttentionRows& rows, int row) {
  float* weights = rows.weights(row);
  const KeyRange seen = rows.keys(row);
  const int begin = whole_blocks_below(seen.begin), end = whole_blocks_above(seen.end);
  const float* sink = rows.sink(row);
  const auto fill_unseen = [&](float value) {
    for (int j = begin; j < seen.begin; ++j) weights[j] = value;
    for (int j = seen.end; j < end; ++j) weights[j] = value;
  };
  fill_unseen(-__builtin_inff());
  typename V::F largest_lanes = V::set1(sink != nullptr ? *sink : -__builtin_inff());
  for (int j = begin; j < end; j += kLanes) {
    largest_lanes = V::max(largest_lanes, V::load(weights + j));
  }
  float lanes[kLanes];
  V::store(lanes, largest_lanes);
  float maximum = lanes[0];
  for (int j = 1; j < kLanes; ++j) maximum = lanes[j] > maximum ? lanes[j] : maximum;
  typename V::F total_lanes = V::zero();
  for (int j = begin; j < end; j += kLanes) {
    V::store(weights + j, exp_lanes<V>(V::sub(V::load(weights + j), V::set1(maximum))));
  }
  fill_unseen(0);
  for (int j = begin; j < end; j += kLanes) {
    total_lanes = V::add(total_lanes, V::load(weights + j));
  }
  const float total = lane_tree_sum<V>(total_lanes);
  if (sink == nullptr) return total;
  V::store(lanes, exp_lanes<V>(V::set1(*sink - maximum)));
  return total + lanes[0];
}

/// Adds the weighted values of `keys`, which all kRows rows see.
template <class V, KvDType kType, int kRows, class BlockAt>
void add_tile_values(const AttentionRows& rows, int row, KeyRange keys, const BlockAt& block_at) {
  constexpr int kVectors = vectors_at_once<V>(kRows);
  const float* weights[kRows];
  float* sums[kRows];
  for (int r = 0; r < kRows; ++r) {
    weights[r] = rows.weights(row + r);
    sums[r] = rows.sums(row + r);
  }
  int d = 0;
  for (; d + kVectors * kLanes <= rows.stride; d += kVectors * kLanes) {
    value_tile<V, kType, kRows, kVectors>(weights, keys, block_at, d, rows.stride, sums);
  }
  for (; d < rows.stride; d += kLanes) {
    value_tile<V, kType, kRows, 1>(weights, keys, block_at, d, rows.stride, sums);
  }
}

/// Adds to every row the weighted values of those of `keys` that it sees, in ascending order: where
/// the rows differ, each takes exactly its own, since a weight of zero times an infinite value
/// would not be nothing.
template <class V, KvDType kType, class BlockAt>
void add_values(const AttentionRows& rows, KeyRange keys, const BlockAt& block_at) {
  const auto add_own = [&](KeyRange part) {
    for (int row = 0; row < rows.num_rows; ++row) {
      const KeyRange own = rows.keys(row).within(part);
      if (!own.is_empty()) add_tile_values<V, kType, 1>(rows, row, own, block_at);
    }
  };
  const KeyRange common = rows.common_keys().within(keys);
  if (common.is_empty()) return add_own(keys);
  add_own({keys.begin, common.begin});
  over_row_tiles<V>(rows.num_rows, [&](auto count, int row) {
    add_tile_values<V, kType, count.kRows>(rows, row, common, block_at);
  });
  add_own({common.end, keys.end});
}

/// One tile of rows reads the cache itself; for more, each block is converted once.
template <class V, KvDType kType>
void weighted_values(const AttentionRows& rows) {
  const KeyRange all{rows.first_scored_key, rows.end_key()};
  if (kType == KvDType::kF32 || rows.num_rows <= V::kTileRows) {
    return add_values<V, kType>(rows, all, [&](int first) { return rows.value_block(first); });
  }
  float* converted = rows.converted_block();
  const HeadBlock block{reinterpret_cast<const uint8_t*>(converted), nullptr};
  for (int first = all.begin; first < all.end; first += kKvBlockSize) {
    const int end = least(first + kKvBlockSize, all.end);
    convert_values<V, kType>(rows.value_block(first), end - first, rows.stride, converted);
    add_values<V, KvDType::kF32>(rows, {first, end}, [&](int) { return block; });
  }
}

template <class V, KvDType kType>
void scores(const AttentionRows& rows) {
  if (rows.num_rows > V::kTileRows) return score_many_tiles<V, kType>(rows);
  with_row_count<V::kTileRows>(rows.num_rows,
                               [&](auto count) { score_one_tile<V, kType, count.kRows>(rows); });
}

template <class V>
void write_outputs(const AttentionRows& rows) {
  const int head_dim = rows.args.cache.head_dim;
  for (int row = 0; row < rows.num_rows; ++row) {
    float* out = rows.args.out + rows.offset(row);
    const typename V::F total = V::set1(rows.totals()[row]);
    for (int d = 0; d < head_dim; d += kLanes) {
      store_partial<V>(out + d, V::div(V::load(rows.sums(row) + d), total), head_dim - d);
    }
  }
}

template <class V, KvDType kType>
void attend(const AttentionRows& rows) {
  scores<V, kType>(rows);
  for (int row = 0; row < rows.num_rows; ++row) rows.totals()[row] = softmax_row<V>(rows, row);
  __builtin_memset(rows.sums(0), 0,
                   sizeof(float) * static_cast<size_t>(rows.num_rows) * rows.stride);
  weighted_values<V, kType>(rows);
  write_outputs<V>(rows);
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
