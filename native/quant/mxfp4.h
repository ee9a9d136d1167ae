#pragma once
// MXFP4: 32 four-bit floats (e2m1) with a power of two as scale (e8m0). 4.25 bits a weight.
//
//   byte  0      e
//   byte  1..16  qs[j]: low nibble = value j, high nibble = value j + 16
//   y = 2^(e - 128) * kFp4Values[q]; the table holds the doubled values, so that they are whole.
//   e = 255 is not a number: such a block is damage (find_bad_mxfp4_block).
//
// Source: OCP Microscaling Formats (MX) specification 1.0, sections 5.3 and 5.4; GGUF
// specification, type 39, for the order of the nibbles.

#include <cstdint>
#include <optional>

namespace wl::quant {

/// Twice the value of each e2m1 nibble.
inline constexpr int8_t kFp4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

struct BlockMXFP4 {
  static constexpr int kElems = 32;
  uint8_t e;
  uint8_t qs[16];
};
static_assert(sizeof(BlockMXFP4) == 17);

/// 2^(e - 128), a denormal for e = 0 and 1; NaN for e = 255.
float mxfp4_scale(uint8_t e);

void dequantize_mxfp4(const uint8_t* src, int64_t num_blocks, float* out);

/// The first of `num_blocks` blocks whose scale is not a number.
std::optional<int64_t> find_bad_mxfp4_block(const uint8_t* src, int64_t num_blocks);

}  // namespace wl::quant
