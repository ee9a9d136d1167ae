#include "quant/q4_k.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "quant/dequantize.h"
#include "quant/scale_search.h"

namespace wl::quant {

void dequantize_q4_k(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i) {
    BlockQ4_K block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    const float dmin = f16_to_f32(block.dmin);
    for (int j = 0; j < 8; ++j, out += 32) {
      uint8_t sc, m;
      scale_min_k4(j, block.scales, &sc, &m);
      const float scale = d * static_cast<float>(sc);
      const float offset = dmin * static_cast<float>(m);
      const uint8_t* qs = block.qs + 32 * (j / 2);
      const int shift = 4 * (j % 2);
      for (int l = 0; l < 32; ++l) {
        out[l] = scale * static_cast<float>((qs[l] >> shift) & 15) - offset;
      }
    }
  }
}

namespace {

/// Inverse of scale_min_k4: the six-bit scales and offsets of eight sub-blocks in twelve bytes.
void put_scale_min_k4(const uint8_t sc[8], const uint8_t m[8], uint8_t scales[12]) {
  for (int j = 0; j < 4; ++j) {
    scales[j] = static_cast<uint8_t>(sc[j] | (sc[j + 4] >> 4) << 6);
    scales[j + 4] = static_cast<uint8_t>(m[j] | (m[j + 4] >> 4) << 6);
    scales[j + 8] = static_cast<uint8_t>((sc[j + 4] & 15) | (m[j + 4] & 15) << 4);
  }
}

BlockQ4_K quantized_block(const float* values) {
  ScaleAndOffset subs[8];
  ScaleAndOffset largest;
  for (int j = 0; j < 8; ++j) {
    subs[j] = scale_and_offset(values + 32 * j, 32, 15);
    const bool is_larger = std::isnan(subs[j].scale) || subs[j].scale > largest.scale;
    if (is_larger) largest.scale = subs[j].scale;
    largest.offset = std::max(largest.offset, subs[j].offset);
  }
  BlockQ4_K block = {};
  block.d = stored_scale(largest.scale / 63);
  block.dmin = stored_scale(largest.offset / 63);
  const float d = f16_to_f32(block.d), dmin = f16_to_f32(block.dmin);
  uint8_t sc[8], m[8];
  for (int j = 0; j < 8; ++j) {
    sc[j] = static_cast<uint8_t>(rounded(subs[j].scale, inverse_scale(d), 0, 63));
    m[j] = static_cast<uint8_t>(rounded(subs[j].offset, inverse_scale(dmin), 0, 63));
    const float inverse = inverse_scale(d * static_cast<float>(sc[j]));
    const float offset = dmin * static_cast<float>(m[j]);
    for (int l = 0; l < 32; ++l) {
      const int q = rounded(values[32 * j + l] + offset, inverse, 0, 15);
      block.qs[32 * (j / 2) + l] |= static_cast<uint8_t>(q << 4 * (j % 2));
    }
  }
  put_scale_min_k4(sc, m, block.scales);
  return block;
}

}  // namespace

void quantize_q4_k(const float* values, int64_t num_blocks, uint8_t* out) {
  for (int64_t i = 0; i < num_blocks; ++i, values += BlockQ4_K::kElems) {
    const BlockQ4_K block = quantized_block(values);
    std::memcpy(out + i * static_cast<int64_t>(sizeof block), &block, sizeof block);
  }
}

}  // namespace wl::quant
