#pragma once
// Q5_0: 32 values, 5 bits each, one scale. 5.5 bits a weight.
//
//   byte  0..1   d, binary16
//   byte  2..5   qh, little-endian: bit j = fifth bit of value j
//   byte  6..21  qs[j]: low nibble = low bits of value j, high nibble = of value j + 16
//   y = (q - 16) * d
//
// Source: GGUF specification, type 6.

#include <cstdint>

namespace wl::quant {

struct BlockQ5_0 {
  static constexpr int kElems = 32;
  uint16_t d;
  uint8_t qh[4];
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ5_0) == 22);

/// Five-bit values j and j + 16 of a block (Q5_0 and Q5_1 store them alike), j in 0..15.
/// `static`: instruction-set builds include this header and must not share code objects.
static inline int q5_low_value(const uint8_t qh[4], const uint8_t qs[16], int j) {
  return (qs[j] & 15) | (((qh[j / 8] >> (j % 8)) & 1) << 4);
}
static inline int q5_high_value(const uint8_t qh[4], const uint8_t qs[16], int j) {
  return (qs[j] >> 4) | (((qh[2 + j / 8] >> (j % 8)) & 1) << 4);
}

void dequantize_q5_0(const uint8_t* src, int64_t num_blocks, float* out);
void quantize_q5_0(const float* values, int64_t num_blocks, uint8_t* out);

}  // namespace wl::quant
