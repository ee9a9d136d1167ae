#pragma once
// Q4_0: 32 values, 4 bits each, one scale. 4.5 bits a weight.
//
//   byte  0..1   d, binary16
//   byte  2..17  qs[j]: low nibble = value j, high nibble = value j + 16
//   y = (q - 8) * d
//
// Source: GGUF specification, type 2.

#include <cstdint>

namespace wl::quant {

struct BlockQ4_0 {
  static constexpr int kElems = 32;
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ4_0) == 18);

void dequantize_q4_0(const uint8_t* src, int64_t num_blocks, float* out);
void quantize_q4_0(const float* values, int64_t num_blocks, uint8_t* out);

}  // namespace wl::quant
