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

float cache_value(const uint8_t* bytes, KvDType dtype, int64_t index) {
  if (dtype == KvDType::kF32) {
    float value;
    std::memcpy(&value, bytes + 4 * index, sizeof(value));
    return value;
  }
  uint16_t half;
  std::memcpy(&half, bytes + 2 * index, sizeof(half));
  return quant::f16_to_f32(half);
}

float key_score(const AttentionArgs& args, const float* q, int key) {
  const backend::KvCache& cache = args.cache;
  const uint8_t* block =
      cache.k_block(args.layer, args.block_table[key / kKvBlockSize], args.kv_head);
  float acc = 0;
  for (int d = 0; d < cache.head_dim; ++d) {
    const float k = cache_value(block, cache.dtype, d * kKvBlockSize + key % kKvBlockSize);
    acc = std::fma(q[d], k, acc);
  }
  return acc * args.params.scale;
}

/// One query head over keys [first, end). `sink` may be null.
void attention_row(const AttentionArgs& args, const float* q, float* out, int first, int end,
                   const float* sink) {
  const backend::KvCache& cache = args.cache;
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
  for (int d = 0; d < cache.head_dim; ++d) {
    float acc = 0;
    for (int j = first; j < end; ++j) {
      const uint8_t* block =
          cache.v_block(args.layer, args.block_table[j / kKvBlockSize], args.kv_head);
      const int64_t index = static_cast<int64_t>(j % kKvBlockSize) * cache.value_stride() + d;
      acc = std::fma(weights[j - first], cache_value(block, cache.dtype, index), acc);
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
