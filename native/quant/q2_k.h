#pragma once
// Q2_K: super-block of 256 values in 16 sub-blocks of 16, 2 bits each; every sub-block has a
// four-bit scale and a four-bit offset. 2.625 bits a weight.
//
//   byte   0..15   scales[16]: low nibble = scale, high nibble = offset of a sub-block
//   byte  16..79   qs           byte 80..81  d, binary16      byte 82..83  dmin, binary16
//
//   value 128n + 32j + l  (n = half 0..1, j = 0..3, l = 0..31):
//     q = bits 2j, 2j + 1 of qs[32n + l];  s = scales[8n + 2j + l / 16]
//   y = (d * (s & 15)) * q - dmin * (s >> 4)
//
// Source: GGUF specification, type 10.

#include <cstdint>

namespace wl::quant {

struct BlockQ2_K {
  static constexpr int kElems = 256;
  uint8_t scales[16];
  uint8_t qs[64];
  uint16_t d, dmin;
};
static_assert(sizeof(BlockQ2_K) == 84);

/// Value (0..3) of element 32j + l, j = 0..7; Q3_K keeps its low bits alike.
/// `static`: instruction-set builds include this header and must not share code objects.
static inline int q2_k_value(const uint8_t qs[64], int j, int l) {
  return (qs[32 * (j / 4) + l] >> (2 * (j % 4))) & 3;
}

void dequantize_q2_k(const uint8_t* src, int64_t num_blocks, float* out);

}  // namespace wl::quant
