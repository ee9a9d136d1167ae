#pragma once
// IQ4_NL: 32 values, 4 bits each, through a table of uneven steps; one scale. 4.5 bits a weight.
//
//   byte  0..1   d, binary16
//   byte  2..17  qs[j]: low nibble = value j, high nibble = value j + 16
//   y = d * kIq4Values[q]
//
// Source: GGUF specification, type 20.

#include <cstdint>

namespace wl::quant {

/// What the nibbles of IQ4_NL and IQ4_XS stand for.
inline constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};

struct BlockIQ4_NL {
  static constexpr int kElems = 32;
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(BlockIQ4_NL) == 18);

void dequantize_iq4_nl(const uint8_t* src, int64_t num_blocks, float* out);

}  // namespace wl::quant
