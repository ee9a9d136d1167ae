#include "quant/q8_0.h"

#include <cstring>

#include "quant/dequantize.h"

namespace wl::quant {

void dequantize_q8_0(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i, out += BlockQ8_0::kElems) {
    BlockQ8_0 block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    for (int j = 0; j < 32; ++j) out[j] = static_cast<float>(block.qs[j]) * d;
  }
}

}  // namespace wl::quant
