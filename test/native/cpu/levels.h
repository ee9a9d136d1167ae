#pragma once
// The instruction-set levels under test and random inputs for them.

#include <cstring>
#include <random>
#include <vector>

#include "cpu/dispatch.h"

namespace wl::cpu {

using Floats = std::vector<float>;

inline Floats random_floats(std::mt19937& rng, size_t count, float spread) {
  std::normal_distribution<float> normal(0, spread);
  Floats values(count);
  for (float& v : values) v = normal(rng);
  return values;
}

inline bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Every level of this CPU but the reference.
inline std::vector<const KernelTable*> simd_levels() {
  std::vector<const KernelTable*> tables;
  for (const std::string& name : available_levels()) {
    if (name != "ref") tables.push_back(kernels_for(name).value());
  }
  return tables;
}

}  // namespace wl::cpu
