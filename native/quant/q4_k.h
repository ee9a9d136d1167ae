#pragma once
// Q4_K: super-block of 256 values in 8 sub-blocks of 32, 4 bits each; every sub-block has a six-bit
// scale and a six-bit offset. 4.5 bits a weight.
//
//   byte   0..1    d, binary16: scale of the scales
//   byte   2..3    dmin, binary16: scale of the offsets
//   byte   4..15   scales[12]: (sc, m) of sub-block j, see scale_min_k4
//   byte  16..143  qs: 32 bytes for each pair of sub-blocks (2k, 2k + 1);
//                  low nibble of byte l = value l of 2k, high nibble = value l of 2k + 1
//   y = (d * sc) * q - dmin * m
//
//   scales:  j < 4          S[j]   = 2 high bits of sc[j+4] | 6 bits of sc[j]
//                           S[j+4] = 2 high bits of m[j+4]  | 6 bits of m[j]
//            8 <= i < 12    S[i]   = 4 low bits of m[i-4]   | 4 low bits of sc[i-4]
//
// Source: GGUF specification, type 12.

#include <cstdint>

namespace wl::quant {

struct BlockQ4_K {
  static constexpr int kElems = 256;
  uint16_t d, dmin;
  uint8_t scales[12];
  uint8_t qs[128];
};
static_assert(sizeof(BlockQ4_K) == 144);

/// Scale and offset (0..63) of sub-block j, 0..7, of a Q4_K or Q5_K block.
/// `static`: instruction-set builds include this header and must not share code objects.
static inline void scale_min_k4(int j, const uint8_t scales[12], uint8_t* sc, uint8_t* m) {
  if (j < 4) {
    *sc = static_cast<uint8_t>(scales[j] & 63);
    *m = static_cast<uint8_t>(scales[j + 4] & 63);
  } else {
    *sc = static_cast<uint8_t>((scales[j + 4] & 15) | ((scales[j - 4] >> 6) << 4));
    *m = static_cast<uint8_t>((scales[j + 4] >> 4) | ((scales[j] >> 6) << 4));
  }
}

void dequantize_q4_k(const uint8_t* src, int64_t num_blocks, float* out);
void quantize_q4_k(const float* values, int64_t num_blocks, uint8_t* out);

}  // namespace wl::quant
