#include "quant/iq4_nl.h"

#include <cstring>

#include "quant/dequantize.h"

namespace wl::quant {

void dequantize_iq4_nl(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i, out += BlockIQ4_NL::kElems) {
    BlockIQ4_NL block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    for (int j = 0; j < 16; ++j) {
      out[j] = d * static_cast<float>(kIq4Values[block.qs[j] & 15]);
      out[j + 16] = d * static_cast<float>(kIq4Values[block.qs[j] >> 4]);
    }
  }
}

}  // namespace wl::quant
