#include "cpu/kv_row.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "quant/dequantize.h"

namespace wl::cpu {

using backend::kKvBlockSize;
using backend::kKvScaleInputs;
using backend::KvCache;
using backend::KvDType;

namespace {

/// One head of one token inside a block: where its elements and scales go.
struct HeadSlot {
  KvDType dtype;
  int head_dim;
  uint8_t* elements;  // of the token's input 0
  int64_t stride;     // elements from one input to the next
  uint8_t* scales;    // float32; of the token's inputs 0..31
};

template <class T>
void put(uint8_t* bytes, int64_t index, T value) {
  std::memcpy(bytes + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Formula: backend/kv_cache.h.
void store_q8_0(const HeadSlot& to, const float* x) {
  constexpr float kLevels = 127;
  for (int first = 0; first < to.head_dim; first += kKvScaleInputs) {
    const int end = std::min(first + kKvScaleInputs, to.head_dim);
    float amax = 0;
    bool is_finite = true;
    for (int d = first; d < end; ++d) {
      amax = std::max(amax, std::fabs(x[d]));
      is_finite = is_finite && std::isfinite(x[d]);
    }
    const float inverse = kLevels / amax;
    // The inverse of a block of zeros, or of denormals, is infinite.
    const bool is_zero = !std::isfinite(inverse);
    float scale = is_zero ? 0 : amax / kLevels;
    if (!is_finite) scale = std::numeric_limits<float>::quiet_NaN();
    put(to.scales, first / kKvScaleInputs * kKvBlockSize, scale);
    for (int d = first; d < end; ++d) {
      const float q = is_zero || !is_finite ? 0 : std::nearbyint(x[d] * inverse);
      put(to.elements, d * to.stride, static_cast<int8_t>(q));
    }
  }
}

void store_head(const HeadSlot& to, const float* x) {
  switch (to.dtype) {
    case KvDType::kF16:
      for (int d = 0; d < to.head_dim; ++d) {
        put(to.elements, d * to.stride, quant::f32_to_f16(x[d]));
      }
      return;
    case KvDType::kF32:
      for (int d = 0; d < to.head_dim; ++d) put(to.elements, d * to.stride, x[d]);
      return;
    case KvDType::kQ8_0:
      return store_q8_0(to, x);
  }
}

}  // namespace

void store_kv_row(const KvCache& cache, int layer, int slot, const float* k, const float* v) {
  const int block = slot / kKvBlockSize, offset = slot % kKvBlockSize;
  const auto elem_bytes = static_cast<int64_t>(cache.elem_bytes());
  const int64_t scale_offset = offset * static_cast<int64_t>(sizeof(float));
  for (int h = 0; h < cache.num_kv_heads; ++h) {
    uint8_t* keys = cache.k_block(layer, block, h);
    uint8_t* values = cache.v_block(layer, block, h);
    store_head({cache.dtype, cache.head_dim, keys + offset * elem_bytes, kKvBlockSize,
                keys + cache.k_element_bytes() + scale_offset},
               k + h * cache.head_dim);
    store_head({cache.dtype, cache.head_dim, values + offset * cache.value_stride() * elem_bytes, 1,
                values + cache.v_element_bytes() + scale_offset},
               v + h * cache.head_dim);
  }
}

}  // namespace wl::cpu
