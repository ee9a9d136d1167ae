#include "quant/q4_1.h"

#include <cstring>

#include "quant/dequantize.h"

namespace wl::quant {

void dequantize_q4_1(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i, out += BlockQ4_1::kElems) {
    BlockQ4_1 block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    const float m = f16_to_f32(block.m);
    for (int j = 0; j < 16; ++j) {
      out[j] = static_cast<float>(block.qs[j] & 15) * d + m;
      out[j + 16] = static_cast<float>(block.qs[j] >> 4) * d + m;
    }
  }
}

}  // namespace wl::quant
