#include "quant/mxfp4.h"

#include <bit>
#include <cstring>
#include <limits>

namespace wl::quant {

namespace {
constexpr uint8_t kNotANumber = 255;
}

float mxfp4_scale(uint8_t e) {
  if (e == kNotANumber) return std::numeric_limits<float>::quiet_NaN();
  // The exponent field of a normal float is e - 1; 2^-128 and 2^-127 are denormals.
  if (e < 2) return std::bit_cast<float>(uint32_t{0x200000} << e);
  return std::bit_cast<float>(static_cast<uint32_t>(e - 1) << 23);
}

void dequantize_mxfp4(const uint8_t* src, int64_t num_blocks, float* out) {
  for (int64_t i = 0; i < num_blocks; ++i, out += BlockMXFP4::kElems) {
    BlockMXFP4 block;
    std::memcpy(&block, src + i * static_cast<int64_t>(sizeof block), sizeof block);
    const float scale = mxfp4_scale(block.e);
    for (int j = 0; j < 16; ++j) {
      out[j] = scale * static_cast<float>(kFp4Values[block.qs[j] & 15]);
      out[j + 16] = scale * static_cast<float>(kFp4Values[block.qs[j] >> 4]);
    }
  }
}

std::optional<int64_t> find_bad_mxfp4_block(const uint8_t* src, int64_t num_blocks) {
  for (int64_t i = 0; i < num_blocks; ++i) {
    if (src[i * static_cast<int64_t>(sizeof(BlockMXFP4))] == kNotANumber) return i;
  }
  return std::nullopt;
}

}  // namespace wl::quant
