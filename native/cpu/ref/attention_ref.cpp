// Paged causal attention in scalar form: scores, maximum, weights, weighted values; one row at a
// time, over the keys that it sees.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/ref/kernels_ref.h"
#include "cpu/ref/lanes.h"
#include "quant/dequantize.h"

namespace wl::cpu::ref {

using backend::kKvBlockSize;
using backend::KvDType;

namespace {

template <class T>
T read(const uint8_t* bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

/// Element `index` of a head's elements; `scale` is its index among the scales behind them.
float cache_value(const uint8_t* elements, const uint8_t* scales, KvDType dtype, int64_t index,
                  int64_t scale) {
  switch (dtype) {
    case KvDType::kF16:
      return quant::f16_to_f32(read<uint16_t>(elements, index));
    case KvDType::kF32:
      return read<float>(elements, index);
    case KvDType::kQ8_0:
      return static_cast<float>(read<int8_t>(elements, index)) * read<float>(scales, scale);
  }
  return 0;
}

/// Index of the scale of input d in a block's slot.
int64_t scale_index(int d, int slot) { return d / backend::kKvScaleInputs * kKvBlockSize + slot; }

float key_value(const AttentionArgs& args, int key, int d) {
  const backend::KvCache& cache = args.cache;
  const int slot = key % kKvBlockSize;
  const uint8_t* head =
      cache.k_block(args.layer, args.block_table[key / kKvBlockSize], args.kv_head);
  return cache_value(head, head + cache.k_element_bytes(), cache.dtype, d * kKvBlockSize + slot,
                     scale_index(d, slot));
}

float value_value(const AttentionArgs& args, int key, int d) {
  const backend::KvCache& cache = args.cache;
  const int slot = key % kKvBlockSize;
  const uint8_t* head =
      cache.v_block(args.layer, args.block_table[key / kKvBlockSize], args.kv_head);
  return cache_value(head, head + cache.v_element_bytes(), cache.dtype,
                     slot * cache.value_stride() + d, scale_index(d, slot));
}

float key_score(const AttentionArgs& args, const float* q, int key) {
  float acc = 0;
  for (int d = 0; d < args.cache.head_dim; ++d) acc = std::fma(q[d], key_value(args, key, d), acc);
  return acc * args.params.scale;
}

/// One query head over keys [first, end). `sink` may be null.
void attention_row(const AttentionArgs& args, const float* q, float* out, int first, int end,
                   const float* sink) {
  float* weights = args.scratch;
  float largest = sink != nullptr ? *sink : -INFINITY;
  for (int j = first; j < end; ++j) {
    weights[j - first] = key_score(args, q, j);
    largest = std::max(largest, weights[j - first]);
  }
  float lanes[kLanes] = {};
  for (int j = first; j < end; ++j) {
    float& weight = weights[j - first];
    weight = exp_scalar(weight - largest);
    lanes[j % kLanes] += weight;
  }
  float total = lane_tree_sum(lanes);
  if (sink != nullptr) total += exp_scalar(*sink - largest);
  for (int d = 0; d < args.cache.head_dim; ++d) {
    float acc = 0;
    for (int j = first; j < end; ++j) {
      acc = std::fma(weights[j - first], value_value(args, j, d), acc);
    }
    out[d] = acc / total;
  }
}

}  // namespace

void attention(const AttentionArgs& args) {
  for (int query = 0; query < args.num_queries; ++query) {
    for (int head = 0; head < args.group; ++head) {
      const int64_t offset = query * args.query_stride + head * args.cache.head_dim;
      attention_row(args, args.q + offset, args.out + offset, args.first_key(query),
                    args.num_keys(query), args.sink(head));
    }
  }
}

}  // namespace wl::cpu::ref
