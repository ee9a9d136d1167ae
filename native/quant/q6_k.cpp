#include "quant/q6_k.h"

#include <cstring>

#include "quant/dequantize.h"

namespace wl::quant {

void dequantize_q6_k(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i) {
    BlockQ6_K block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    for (int n = 0; n < 2; ++n) {
      for (int g = 0; g < 4; ++g, out += 32) {
        for (int l = 0; l < 32; ++l) {
          const float scale = d * static_cast<float>(block.scales[8 * n + 2 * g + l / 16]);
          out[l] = scale * static_cast<float>(q6_k_value(block, n, g, l));
        }
      }
    }
  }
}

}  // namespace wl::quant
