#pragma once
// Whether logits are finite: a model that overflows must not draw a token from nonsense.

#include <bit>
#include <cstdint>
#include <span>

namespace wl::sampling {

inline bool is_finite(float value) {
  return (std::bit_cast<uint32_t>(value) & 0x7f800000u) != 0x7f800000u;
}

/// Without an early exit, so that it is a vector loop: nearly always the answer is yes.
inline bool all_finite(std::span<const float> values) {
  bool result = true;
  for (const float value : values) result &= is_finite(value);
  return result;
}

}  // namespace wl::sampling
