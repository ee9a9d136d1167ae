#include "random_weight.h"

#include <new>
#include <random>
#include <vector>

namespace wl::bench {

namespace {

// The records of a panel are independent of one another, so [rows * cols / 256, 256] packs into the
// bytes of [rows, cols]: the K types, whose blocks hold 256 inputs, get shapes they have no file
// for.
constexpr int kSourceCols = 256;

/// Bytes in [0x18, 0x37]: read as float16, bfloat16 or float32, a scale or a weight is then a
/// positive number far from denormal and from overflow, whatever the type's block looks like.
std::vector<uint8_t> random_bytes(size_t count) {
  std::minstd_rand rng(7);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(0x18 + (rng() >> 8) % 0x20);
  return bytes;
}

}  // namespace

RandomWeight::RandomWeight(backend::Backend& device, DType type, int rows, int cols) {
  const auto elements = static_cast<int64_t>(rows) * cols;
  const int source_rows = static_cast<int>(elements / kSourceCols);
  const std::vector<uint8_t> source = random_bytes(row_bytes(type, elements));
  weight_ = {*device.form_for(type), rows, cols, nullptr};
  if (!panels_.allocate(weight_.num_bytes())) throw std::bad_alloc();
  device.pack({type, source_rows, kSourceCols, source.data()}, weight_.form, panels_.data());
  weight_.panels = panels_.data();
}

}  // namespace wl::bench
