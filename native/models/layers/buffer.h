#pragma once
// Rows that a layer writes and reads within one step; grows to the largest step, never shrinks.

#include <vector>

#include "backend/ops.h"

namespace wl::models {

class Buffer {
 public:
  /// Room for [num_rows, cols]; what it held is lost when it grows.
  backend::Matrix rows(int num_rows, int cols) {
    const size_t size = static_cast<size_t>(num_rows) * static_cast<size_t>(cols);
    if (values_.size() < size) values_.resize(size);
    return {values_.data(), num_rows, cols};
  }

 private:
  std::vector<float> values_;
};

}  // namespace wl::models
