#include "quant/q2_k.h"

#include <cstring>

#include "quant/dequantize.h"

namespace wl::quant {

void dequantize_q2_k(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i) {
    BlockQ2_K block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    const float dmin = f16_to_f32(block.dmin);
    for (int j = 0; j < 8; ++j, out += 32) {
      for (int l = 0; l < 32; ++l) {
        const uint8_t s = block.scales[2 * j + l / 16];
        const float scale = d * static_cast<float>(s & 15);
        const float offset = dmin * static_cast<float>(s >> 4);
        out[l] = scale * static_cast<float>(q2_k_value(block.qs, j, l)) - offset;
      }
    }
  }
}

}  // namespace wl::quant
