#include "tokenizer/unicode.h"

#include <vector>

namespace wl::tokenizer {

namespace {

constexpr uint32_t kNumCodePoints = 0x110000;

std::vector<CharCategory> expand_runs() {
  std::vector<CharCategory> table(kNumCodePoints, CharCategory::kOther);
  const std::span<const uint32_t> runs = category_runs();
  for (size_t i = 0; i < runs.size(); ++i) {
    const uint32_t end = i + 1 < runs.size() ? runs[i + 1] / 16 : kNumCodePoints;
    for (uint32_t c = runs[i] / 16; c < end; ++c)
      table[c] = static_cast<CharCategory>(runs[i] % 16);
  }
  return table;
}

/// Never destroyed: worker threads may encode while the process exits.
const CharCategory* category_table() {
  static const std::vector<CharCategory>* table = new std::vector<CharCategory>(expand_runs());
  return table->data();
}

}  // namespace

CharCategory category_of(uint32_t code_point) {
  static const CharCategory* table = category_table();
  return code_point < kNumCodePoints ? table[code_point] : CharCategory::kOther;
}

}  // namespace wl::tokenizer
