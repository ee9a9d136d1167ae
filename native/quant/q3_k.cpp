#include "quant/q3_k.h"

#include <cstring>

#include "quant/dequantize.h"

namespace wl::quant {

void dequantize_q3_k(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i) {
    BlockQ3_K block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    for (int j = 0; j < 8; ++j, out += 32) {
      for (int l = 0; l < 32; ++l) {
        const float scale = d * static_cast<float>(q3_k_scale(block.scales, 2 * j + l / 16));
        out[l] = scale * static_cast<float>(q3_k_value(block, j, l));
      }
    }
  }
}

}  // namespace wl::quant
