#include "quant/q4_0.h"

#include <cstring>

#include "quant/dequantize.h"
#include "quant/scale_search.h"

namespace wl::quant {

void dequantize_q4_0(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i, out += BlockQ4_0::kElems) {
    BlockQ4_0 block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    for (int j = 0; j < 16; ++j) {
      out[j] = static_cast<float>((block.qs[j] & 15) - 8) * d;
      out[j + 16] = static_cast<float>((block.qs[j] >> 4) - 8) * d;
    }
  }
}

void quantize_q4_0(const float* values, int64_t num_blocks, uint8_t* out) {
  for (int64_t i = 0; i < num_blocks; ++i, values += BlockQ4_0::kElems) {
    BlockQ4_0 block;
    block.d = stored_scale(symmetric_scale(values, BlockQ4_0::kElems, -8));
    const float inverse = inverse_scale(f16_to_f32(block.d));
    for (int j = 0; j < 16; ++j) {
      const int low = rounded(values[j], inverse, -8, 7) + 8;
      const int high = rounded(values[j + 16], inverse, -8, 7) + 8;
      block.qs[j] = static_cast<uint8_t>(low | high << 4);
    }
    std::memcpy(out + i * static_cast<int64_t>(sizeof block), &block, sizeof block);
  }
}

}  // namespace wl::quant
