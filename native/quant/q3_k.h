#pragma once
// Q3_K: super-block of 256 values in 16 sub-blocks of 16, 3 bits each; every sub-block has a
// six-bit scale. 3.4375 bits a weight.
//
//   byte   0..31   hmask: high bits     byte 32..95  qs: low two bits, as in Q2_K
//   byte  96..107  scales[12]           byte 108..109  d, binary16
//
//   value 32j + l  (j = 0..7, l = 0..31):
//     q = (two bits by q2_k_value) + 4 * (bit j of hmask[l]) - 4
//   scale k = 2j + l / 16, minus 32:
//     low four bits  = nibble (k < 8 ? low : high) of scales[k % 8]
//     high two bits  = bits 2(k / 4), 2(k / 4) + 1 of scales[8 + k % 4]
//   y = (d * scale) * q
//
// Source: GGUF specification, type 11.

#include <cstdint>

#include "quant/q2_k.h"

namespace wl::quant {

struct BlockQ3_K {
  static constexpr int kElems = 256;
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12];
  uint16_t d;
};
static_assert(sizeof(BlockQ3_K) == 110);

/// Value (-4..3) of element 32j + l.
/// `static`: instruction-set builds include this header and must not share code objects.
static inline int q3_k_value(const BlockQ3_K& block, int j, int l) {
  return q2_k_value(block.qs, j, l) + ((block.hmask[l] >> j) & 1) * 4 - 4;
}

/// Scale (-32..31) of sub-block k, 0..15.
static inline int q3_k_scale(const uint8_t scales[12], int k) {
  const int low = (scales[k % 8] >> (k < 8 ? 0 : 4)) & 15;
  const int high = (scales[8 + k % 4] >> (2 * (k / 4))) & 3;
  return (low | (high << 4)) - 32;
}

void dequantize_q3_k(const uint8_t* src, int64_t num_blocks, float* out);

}  // namespace wl::quant
