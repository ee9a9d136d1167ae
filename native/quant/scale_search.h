#pragma once
// Least-squares scales of a block: the integers are rounded under several candidate scales, each
// time the real scale (and minimum) that fits those integers best is solved for, and the candidate
// with the smallest squared error wins. The largest value alone is a poor scale: it spends the
// range on one element.

#include <algorithm>
#include <cstdint>

namespace wl::quant {

/// Scale d for x ~ d * q with q in [lowest, -lowest - 1]; 0 for a block of zeros, NaN for one that
/// holds a NaN or an infinity.
float symmetric_scale(const float* x, int count, int lowest);

struct ScaleAndOffset {
  float scale = 0;
  float offset = 0;  // not negative
};

/// x ~ scale * q - offset with q in [0, highest]. A block with a NaN or an infinity has scale NaN.
ScaleAndOffset scale_and_offset(const float* x, int count, int highest);

/// The scale as a block stores it; NaN when it is beyond binary16, as for values that are not
/// finite: damage stays seen.
uint16_t stored_scale(float scale);

/// 1 / scale, or 0 when there is none (a block of zeros, NaN): all integers are then zero.
float inverse_scale(float scale);

/// x * inverse to the nearest integer, ties to even, in [lowest, highest].
inline int rounded(float x, float inverse, int lowest, int highest) {
  // In this order a NaN becomes `lowest`: its conversion to an integer would be undefined.
  const float scaled =
      std::min(std::max(static_cast<float>(lowest), x * inverse), static_cast<float>(highest));
  constexpr float kRounder = 0x1.8p23f;  // adding it leaves no fraction bits
  return static_cast<int>(scaled + kRounder - kRounder);
}

}  // namespace wl::quant
