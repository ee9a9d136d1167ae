#pragma once
// Arithmetic on shapes that come from files.

#include <cstdint>
#include <optional>
#include <vector>

namespace wl::loader {

/// Product of the dims, or nullopt when it does not fit int64 or a dim is negative.
inline std::optional<int64_t> checked_num_elements(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  bool is_empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      is_empty = true;
    } else if (__builtin_mul_overflow(product, dim, &product)) {
      return std::nullopt;
    }
  }
  return is_empty ? 0 : product;
}

}  // namespace wl::loader
