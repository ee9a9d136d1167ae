#pragma once
// A heap copy of exactly the file's length, so that AddressSanitizer sees one byte too far.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace wl::test {

class ExactBytes {
 public:
  explicit ExactBytes(const std::string& text)
      : size_(text.size()), bytes_(std::make_unique<uint8_t[]>(text.size())) {
    std::copy(text.begin(), text.end(), bytes_.get());
  }
  std::span<const uint8_t> span() const { return {bytes_.get(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<uint8_t[]> bytes_;
};

}  // namespace wl::test
