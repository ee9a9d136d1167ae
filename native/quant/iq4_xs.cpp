#include "quant/iq4_xs.h"

#include <cstring>

#include "quant/dequantize.h"

namespace wl::quant {

void dequantize_iq4_xs(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i) {
    BlockIQ4_XS block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    for (int k = 0; k < 8; ++k, out += 32) {
      const float scale = d * static_cast<float>(iq4_xs_scale(block, k));
      for (int j = 0; j < 16; ++j) {
        const uint8_t byte = block.qs[16 * k + j];
        out[j] = scale * static_cast<float>(kIq4Values[byte & 15]);
        out[j + 16] = scale * static_cast<float>(kIq4Values[byte >> 4]);
      }
    }
  }
}

}  // namespace wl::quant
