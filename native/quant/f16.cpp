// IEEE 754 binary16 <-> binary32 in integer arithmetic: the same bits as F16C (vcvtph2ps, and
// vcvtps2ph with round to nearest even), signalling NaNs quieted, on any CPU.

#include <bit>

#include "quant/dequantize.h"

namespace wl::quant {

float f16_to_f32(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) {
    const uint32_t quiet = mantissa != 0 ? 0x400000u : 0;
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13) | quiet);
  }
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
  // Zero or denormal: mantissa * 2^-24, exact in binary32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: the top mantissa bits, quieted
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // >= 2^16: inf
  uint32_t significand, shift;
  if (magnitude >= 0x38800000u) {  // >= 2^-14: normal; the carry may run into the exponent
    significand = magnitude - (112u << 23);
    shift = 13;
  } else {
    const uint32_t exponent = magnitude >> 23;
    if (exponent < 102) return static_cast<uint16_t>(sign);  // < 2^-25 rounds to zero
    significand = (magnitude & 0x7fffffu) | 0x800000u;
    shift = 126 - exponent;  // 14..24: units of 2^-24
  }
  const uint32_t half = 1u << (shift - 1);
  const uint32_t rest = significand & ((half << 1) - 1);
  uint32_t rounded = significand >> shift;
  if (rest > half || (rest == half && (rounded & 1u) != 0)) ++rounded;
  return static_cast<uint16_t>(sign | rounded);
}

}  // namespace wl::quant
