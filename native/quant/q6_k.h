#pragma once
// Q6_K: super-block of 256 values in 16 sub-blocks of 16, 6 bits each, signed byte scales.
// 6.5625 bits a weight.
//
//   byte    0..127  ql: low four bits     byte 128..191  qh: high two bits
//   byte  192..207  scales[16], int8      byte 208..209  d, binary16
//
//   value 128n + 32g + l  (n = half 0..1, g = group 0..3, l = 0..31):
//     low  = nibble (g < 2 ? low : high) of ql[64n + 32(g % 2) + l]
//     high = bits 2g, 2g + 1 of qh[32n + l]
//   y = (d * scales[8n + 2g + l / 16]) * ((low | high << 4) - 32)
//
// Source: GGUF specification, type 14.

#include <cstdint>

namespace wl::quant {

struct BlockQ6_K {
  static constexpr int kElems = 256;
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
};
static_assert(sizeof(BlockQ6_K) == 210);

/// Value (-32..31) of element 128n + 32g + l.
/// `static`: instruction-set builds include this header and must not share code objects.
static inline int q6_k_value(const BlockQ6_K& block, int n, int g, int l) {
  const int low = (block.ql[64 * n + 32 * (g % 2) + l] >> (g < 2 ? 0 : 4)) & 15;
  const int high = (block.qh[32 * n + l] >> (2 * g)) & 3;
  return (low | (high << 4)) - 32;
}

void dequantize_q6_k(const uint8_t* src, int64_t num_blocks, float* out);

}  // namespace wl::quant
