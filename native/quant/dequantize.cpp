#include "quant/dequantize.h"

#include <bit>
#include <cstring>
#include <string>

#include "base/result.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/mxfp4.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace wl::quant {

// Blocks are read as they lie in the file.
static_assert(std::endian::native == std::endian::little);

namespace {

uint16_t load_u16(const uint8_t* src) {
  uint16_t value;
  std::memcpy(&value, src, sizeof value);
  return value;
}

void widen_f16(const uint8_t* src, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = f16_to_f32(load_u16(src + 2 * i));
}

void widen_bf16(const uint8_t* src, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = std::bit_cast<float>(static_cast<uint32_t>(load_u16(src + 2 * i)) << 16);
  }
}

}  // namespace

void dequantize(DType type, const uint8_t* src, int64_t count, float* out) {
  const DTypeTraits traits = dtype_traits(type);
  if (count % traits.block_elems != 0) {
    throw InternalError("dequantize: " + std::to_string(count) + " elements are not whole " +
                        traits.name + " blocks");
  }
  const int64_t num_blocks = count / traits.block_elems;
  switch (type) {
    case DType::kF32:
      if (count > 0) std::memcpy(out, src, static_cast<size_t>(count) * sizeof(float));
      return;
    case DType::kF16:
      return widen_f16(src, count, out);
    case DType::kBF16:
      return widen_bf16(src, count, out);
    case DType::kQ4_0:
      return dequantize_q4_0(src, num_blocks, out);
    case DType::kQ4_1:
      return dequantize_q4_1(src, num_blocks, out);
    case DType::kQ5_0:
      return dequantize_q5_0(src, num_blocks, out);
    case DType::kQ5_1:
      return dequantize_q5_1(src, num_blocks, out);
    case DType::kQ8_0:
      return dequantize_q8_0(src, num_blocks, out);
    case DType::kQ2_K:
      return dequantize_q2_k(src, num_blocks, out);
    case DType::kQ3_K:
      return dequantize_q3_k(src, num_blocks, out);
    case DType::kQ4_K:
      return dequantize_q4_k(src, num_blocks, out);
    case DType::kQ5_K:
      return dequantize_q5_k(src, num_blocks, out);
    case DType::kQ6_K:
      return dequantize_q6_k(src, num_blocks, out);
    case DType::kIQ4_NL:
      return dequantize_iq4_nl(src, num_blocks, out);
    case DType::kIQ4_XS:
      return dequantize_iq4_xs(src, num_blocks, out);
    case DType::kMXFP4:
      return dequantize_mxfp4(src, num_blocks, out);
    default:
      throw InternalError(std::string("dequantize: type ") + traits.name + " is not supported");
  }
}

}  // namespace wl::quant
