#pragma once
// Q8_0: 32 signed bytes, one scale. 8.5 bits a weight.
//
//   byte  0..1   d, binary16
//   byte  2..33  qs[j], int8
//   y = q * d
//
// Source: GGUF specification, type 8.

#include <cstdint>

namespace wl::quant {

struct BlockQ8_0 {
  static constexpr int kElems = 32;
  uint16_t d;
  int8_t qs[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

void dequantize_q8_0(const uint8_t* src, int64_t num_blocks, float* out);
void quantize_q8_0(const float* values, int64_t num_blocks, uint8_t* out);

}  // namespace wl::quant
