#include "quant/q5_1.h"

#include <cstring>

#include "quant/dequantize.h"
#include "quant/q5_0.h"

namespace wl::quant {

void dequantize_q5_1(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i, out += BlockQ5_1::kElems) {
    BlockQ5_1 block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    const float m = f16_to_f32(block.m);
    for (int j = 0; j < 16; ++j) {
      out[j] = static_cast<float>(q5_low_value(block.qh, block.qs, j)) * d + m;
      out[j + 16] = static_cast<float>(q5_high_value(block.qh, block.qs, j)) * d + m;
    }
  }
}

}  // namespace wl::quant
