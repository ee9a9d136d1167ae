#pragma once
// Reference dequantisation of every supported weight format, bit-exact with the formats' definition
// (test/native/quant against golden vectors). One file per format family beside this one.

#include <cstdint>

#include "base/dtype.h"

namespace wl::quant {

/// Dequantises `count` consecutive elements, a multiple of the format's block size, into `out`.
/// `type` must be supported (dtype_traits(type).is_supported).
void dequantize(DType type, const uint8_t* src, int64_t count, float* out);

/// IEEE binary16 <-> binary32, round to nearest even, all values exact as the hardware does.
float f16_to_f32(uint16_t half);
uint16_t f32_to_f16(float value);

}  // namespace wl::quant
