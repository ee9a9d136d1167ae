#pragma once
// Q5_K: as Q4_K, with a fifth bit a value. 5.5 bits a weight.
//
//   byte   0..1    d, binary16: scale of the scales
//   byte   2..3    dmin, binary16: scale of the offsets
//   byte   4..15   scales[12], by scale_min_k4 of q4_k.h
//   byte  16..47   qh: bit j of byte l = fifth bit of value l of sub-block j
//   byte  48..175  qs, as in Q4_K
//   y = (d * sc) * q - dmin * m
//
// Source: GGUF specification, type 13.

#include <cstdint>

namespace wl::quant {

struct BlockQ5_K {
  static constexpr int kElems = 256;
  uint16_t d, dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
};
static_assert(sizeof(BlockQ5_K) == 176);

void dequantize_q5_k(const uint8_t* src, int64_t num_blocks, float* out);

}  // namespace wl::quant
