#pragma once
// A weight of any type and shape with made-up numbers, packed as the backend wants it.

#include "backend/backend.h"
#include "base/aligned_buffer.h"

namespace wl::bench {

class RandomWeight {
 public:
  /// Throws std::bad_alloc without memory.
  RandomWeight(backend::Backend& device, DType type, int rows, int cols);
  const backend::Weight& view() const { return weight_; }

 private:
  AlignedBuffer panels_;
  backend::Weight weight_;
};

}  // namespace wl::bench
