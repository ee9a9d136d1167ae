#include "quant/q5_0.h"

#include <cstring>

#include "quant/dequantize.h"
#include "quant/scale_search.h"

namespace wl::quant {

void dequantize_q5_0(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i, out += BlockQ5_0::kElems) {
    BlockQ5_0 block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    for (int j = 0; j < 16; ++j) {
      out[j] = static_cast<float>(q5_low_value(block.qh, block.qs, j) - 16) * d;
      out[j + 16] = static_cast<float>(q5_high_value(block.qh, block.qs, j) - 16) * d;
    }
  }
}

void quantize_q5_0(const float* values, int64_t num_blocks, uint8_t* out) {
  for (int64_t i = 0; i < num_blocks; ++i, values += BlockQ5_0::kElems) {
    BlockQ5_0 block = {};
    block.d = stored_scale(symmetric_scale(values, BlockQ5_0::kElems, -16));
    const float inverse = inverse_scale(f16_to_f32(block.d));
    for (int j = 0; j < 32; ++j) {
      const int q = rounded(values[j], inverse, -16, 15) + 16;
      block.qs[j % 16] |= static_cast<uint8_t>((q & 15) << (j < 16 ? 0 : 4));
      block.qh[j / 8] |= static_cast<uint8_t>((q >> 4) << (j % 8));
    }
    std::memcpy(out + i * static_cast<int64_t>(sizeof block), &block, sizeof block);
  }
}

}  // namespace wl::quant
