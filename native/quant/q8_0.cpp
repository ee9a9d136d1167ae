#include "quant/q8_0.h"

#include <cstring>

#include "quant/dequantize.h"
#include "quant/scale_search.h"

namespace wl::quant {

void dequantize_q8_0(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i, out += BlockQ8_0::kElems) {
    BlockQ8_0 block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float d = f16_to_f32(block.d);
    for (int j = 0; j < 32; ++j) out[j] = static_cast<float>(block.qs[j]) * d;
  }
}

void quantize_q8_0(const float* values, int64_t num_blocks, uint8_t* out) {
  for (int64_t i = 0; i < num_blocks; ++i, values += BlockQ8_0::kElems) {
    BlockQ8_0 block;
    block.d = stored_scale(symmetric_scale(values, BlockQ8_0::kElems, -128));
    const float inverse = inverse_scale(f16_to_f32(block.d));
    for (int j = 0; j < 32; ++j) {
      block.qs[j] = static_cast<int8_t>(rounded(values[j], inverse, -128, 127));
    }
    std::memcpy(out + i * static_cast<int64_t>(sizeof block), &block, sizeof block);
  }
}

}  // namespace wl::quant
