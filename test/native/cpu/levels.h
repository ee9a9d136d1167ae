#pragma once
// The instruction-set levels under test and random inputs for them.

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "cpu/dispatch.h"
#include "cpu/emulated/emulated_kernels.h"

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

/// Every level of this CPU but the reference, and those that it can emulate.
inline std::vector<const KernelTable*> simd_levels() {
  std::vector<const KernelTable*> tables;
  const std::vector<std::string> names = available_levels();
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& name : names) {
    if (name != "ref") tables.push_back(kernels_for(name).value());
  }
#ifdef WL_HAVE_AVX2
  if (has("avx2") && !has("avx512")) tables.push_back(emulated_avx512_kernels());
  if (has("avx2") && !has("amx")) tables.push_back(emulated_amx_kernels());
#endif
  return tables;
}

}  // namespace wl::cpu
