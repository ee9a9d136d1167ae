#pragma once
// IQ4_XS: super-block of 256 values in 8 sub-blocks of 32, 4 bits each through the table of IQ4_NL;
// every sub-block has a six-bit scale. 4.25 bits a weight.
//
//   byte  0..1    d, binary16            byte 2..3  scales_h: bits 2k, 2k + 1 = high bits of scale
//   k byte  4..7    scales_l: nibbles, low first = low bits of scales 0..7 byte  8..135  qs: 16
//   bytes a sub-block, low nibble = value j, high nibble = value j + 16 y = (d * (scale - 32)) *
//   kIq4Values[q]
//
// Source: GGUF specification, type 23.

#include <cstdint>

#include "quant/iq4_nl.h"

namespace wl::quant {

struct BlockIQ4_XS {
  static constexpr int kElems = 256;
  uint16_t d, scales_h;
  uint8_t scales_l[4];
  uint8_t qs[128];
};
static_assert(sizeof(BlockIQ4_XS) == 136);

/// Scale (-32..31) of sub-block k, 0..7.
/// `static`: instruction-set builds include this header and must not share code objects.
static inline int iq4_xs_scale(const BlockIQ4_XS& block, int k) {
  const int low = (block.scales_l[k / 2] >> (4 * (k % 2))) & 15;
  const int high = (block.scales_h >> (2 * k)) & 3;
  return (low | (high << 4)) - 32;
}

void dequantize_iq4_xs(const uint8_t* src, int64_t num_blocks, float* out);

}  // namespace wl::quant
