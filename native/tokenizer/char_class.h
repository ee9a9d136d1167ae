#pragma once
// A set of characters as patterns write it: `x`, `\s`, `\p{L}`, `[^\r\n\p{L}\p{N}]`. ASCII is a
// table look-up; everything else asks the Unicode categories and the ranges.

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/unicode.h"

namespace wl::tokenizer {

class CharClass {
 public:
  void add_range(uint32_t first, uint32_t last) { ranges_.emplace_back(first, last); }
  void add_categories(CategorySet categories) { categories_ |= categories; }
  void negate() { is_negated_ = !is_negated_; }
  /// Adds what is the same letter in another case: of s also U+017F, of k also U+212A.
  void fold_ascii_case();
  /// Call once, when everything is in it.
  void freeze();

  bool matches_ascii(unsigned char byte) const { return ascii_[byte]; }
  bool matches(uint32_t code_point) const {
    return code_point < 128 ? ascii_[code_point] : contains(code_point);
  }

 private:
  bool contains(uint32_t code_point) const;

  CategorySet categories_ = 0;
  bool is_negated_ = false;
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;  // inclusive
  std::array<bool, 128> ascii_{};
};

}  // namespace wl::tokenizer
