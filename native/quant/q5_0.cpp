#include "quant/q5_0.h"

#include <cstring>

#include "quant/dequantize.h"

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

}  // namespace wl::quant
