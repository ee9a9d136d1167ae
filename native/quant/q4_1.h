#pragma once
// Q4_1: 32 values, 4 bits each, a scale and an offset. 5 bits a weight.
//
//   byte  0..1   d, binary16
//   byte  2..3   m, binary16
//   byte  4..19  qs[j]: low nibble = value j, high nibble = value j + 16
//   y = q * d + m
//
// Source: GGUF specification, type 3.

#include <cstdint>

namespace wl::quant {

struct BlockQ4_1 {
  static constexpr int kElems = 32;
  uint16_t d, m;
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ4_1) == 20);

void dequantize_q4_1(const uint8_t* src, int64_t num_blocks, float* out);

}  // namespace wl::quant
