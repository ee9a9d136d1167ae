// binary16 conversions against their definition, over every half and around every rounding border.

#include <bit>
#include <cmath>
#include <limits>

#include "check.h"
#include "quant/dequantize.h"

using wl::quant::f16_to_f32;
using wl::quant::f32_to_f16;

namespace {

/// A half's value by the formula of IEEE 754-2008 3.4, in double.
double value_of(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

bool is_finite(uint16_t half) { return (half & 0x7c00) != 0x7c00; }

}  // namespace

WL_TEST("f16: every half widens to its exact value and comes back") {
  int num_wrong = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (is_finite(half)) {
      if (static_cast<double>(f16_to_f32(half)) != value_of(half)) ++num_wrong;
      if (std::signbit(f16_to_f32(half)) != ((half & 0x8000) != 0)) ++num_wrong;
      if (f32_to_f16(f16_to_f32(half)) != half) ++num_wrong;
    } else if ((half & 0x3ff) == 0) {
      if (!std::isinf(f16_to_f32(half)) || f32_to_f16(f16_to_f32(half)) != half) ++num_wrong;
    } else {
      // As the hardware does: a signalling NaN becomes quiet, the other bits stay.
      if (!std::isnan(f16_to_f32(half))) ++num_wrong;
      if (f32_to_f16(f16_to_f32(half)) != (half | 0x200)) ++num_wrong;
    }
  }
  WL_CHECK_EQ(num_wrong, 0);
}

WL_TEST("f16: a value between two halves rounds to the nearer, a tie to the even one") {
  int num_wrong = 0;
  for (uint16_t half = 0; half < 0x7bff; ++half) {
    const float low = f16_to_f32(half);
    const float high = f16_to_f32(static_cast<uint16_t>(half + 1));
    const float middle = (low + high) / 2;  // exact: one more bit than a half has
    const auto next = static_cast<uint16_t>(half + 1);
    if (f32_to_f16(middle) != (half % 2 == 0 ? half : next)) ++num_wrong;
    if (f32_to_f16(std::nextafter(middle, low)) != half) ++num_wrong;
    if (f32_to_f16(std::nextafter(middle, high)) != next) ++num_wrong;
    if (f32_to_f16(-std::nextafter(middle, high)) != (next | 0x8000)) ++num_wrong;
  }
  WL_CHECK_EQ(num_wrong, 0);
}

WL_TEST("f16: the ends of the range") {
  WL_CHECK_EQ(f32_to_f16(65504.0f), 0x7bff);
  WL_CHECK_EQ(f32_to_f16(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  WL_CHECK_EQ(f32_to_f16(65520.0f), 0x7c00);  // the tie above the largest half is infinity
  WL_CHECK_EQ(f32_to_f16(1e30f), 0x7c00);
  WL_CHECK_EQ(f32_to_f16(-std::numeric_limits<float>::infinity()), 0xfc00);
  WL_CHECK_EQ(f32_to_f16(0x1p-25f), 0);  // a tie with zero
  WL_CHECK_EQ(f32_to_f16(std::nextafter(0x1p-25f, 1.0f)), 1);
  WL_CHECK_EQ(f32_to_f16(-0.0f), 0x8000);
  WL_CHECK_EQ(f32_to_f16(std::numeric_limits<float>::denorm_min()), 0);
  WL_CHECK_EQ(f32_to_f16(std::bit_cast<float>(0x7f800001u)) & 0x7e00, 0x7e00);  // NaN stays NaN
}
