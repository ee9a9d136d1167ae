#pragma once
// Q5_1: 32 values, 5 bits each, a scale and an offset. 6 bits a weight.
//
//   byte  0..1   d, binary16
//   byte  2..3   m, binary16
//   byte  4..7   qh, little-endian: bit j = fifth bit of value j
//   byte  8..23  qs[j]: low nibble = low bits of value j, high nibble = of value j + 16
//   y = q * d + m          (values by q5_low_value and q5_high_value of q5_0.h)
//
// Source: GGUF specification, type 7.

#include <cstdint>

namespace wl::quant {

struct BlockQ5_1 {
  static constexpr int kElems = 32;
  uint16_t d, m;
  uint8_t qh[4];
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ5_1) == 24);

void dequantize_q5_1(const uint8_t* src, int64_t num_blocks, float* out);

}  // namespace wl::quant
