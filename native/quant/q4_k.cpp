#include "quant/q4_k.h"

#include <cstring>

#include "quant/dequantize.h"

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

}  // namespace wl::quant
