#pragma once
// Inputs of the cases: seeded, so that every level and every run sees the same.

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "backend/ops.h"

namespace wl::bench {

/// A matrix that owns its numbers.
class OwnedMatrix {
 public:
  /// Zeros.
  OwnedMatrix(int rows, int cols)
      : values_(static_cast<size_t>(rows) * static_cast<size_t>(cols)), rows_(rows), cols_(cols) {}
  /// Uniform in [low, high).
  OwnedMatrix(int rows, int cols, float low, float high) : OwnedMatrix(rows, cols) {
    std::minstd_rand rng(static_cast<unsigned>(rows * 31 + cols));
    std::uniform_real_distribution<float> uniform(low, high);
    for (float& value : values_) value = uniform(rng);
  }
  backend::Matrix view() { return {values_.data(), rows_, cols_}; }
  const float* data() const { return values_.data(); }
  int64_t num_bytes() const { return static_cast<int64_t>(values_.size() * sizeof(float)); }
  bool has_bits_of(const OwnedMatrix& other) const {
    return values_.size() == other.values_.size() &&
           std::memcmp(values_.data(), other.values_.data(), values_.size() * sizeof(float)) == 0;
  }

 private:
  std::vector<float> values_;
  int rows_, cols_;
};

}  // namespace wl::bench
