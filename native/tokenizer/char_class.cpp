#include "tokenizer/char_class.h"

namespace wl::tokenizer {

void CharClass::fold_ascii_case() {
  const std::vector<std::pair<uint32_t, uint32_t>> ranges = ranges_;
  for (uint32_t lower = 'a'; lower <= 'z'; ++lower) {
    const uint32_t upper = lower - 'a' + 'A';
    for (const auto& [first, last] : ranges) {
      const bool has_lower = first <= lower && lower <= last;
      const bool has_upper = first <= upper && upper <= last;
      if (!has_lower && !has_upper) continue;
      add_range(lower, lower);
      add_range(upper, upper);
      if (lower == 's') add_range(0x17f, 0x17f);
      if (lower == 'k') add_range(0x212a, 0x212a);
    }
  }
}

void CharClass::freeze() {
  for (uint32_t c = 0; c < ascii_.size(); ++c) ascii_[c] = contains(c);
}

bool CharClass::contains(uint32_t code_point) const {
  if ((categories_ & category_bit(category_of(code_point))) != 0) return !is_negated_;
  for (const auto& [first, last] : ranges_) {
    if (first <= code_point && code_point <= last) return !is_negated_;
  }
  return is_negated_;
}

}  // namespace wl::tokenizer
