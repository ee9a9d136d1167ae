#pragma once
// Which tokens may be drawn: one bit a token, in the layout of grammar::Matcher::fill_mask().

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wl::sampling {

class TokenMask {
 public:
  static constexpr size_t kWordBits = 32;

  /// Allows no token.
  explicit TokenMask(size_t num_tokens) : words_((num_tokens + kWordBits - 1) / kWordBits) {}

  /// Bit t % 32 of word t / 32 is token t's. Bits behind the last token stay 0.
  std::span<uint32_t> words() { return words_; }
  std::span<const uint32_t> words() const { return words_; }

  void allow(int32_t token) { word_of(token) |= bit_of(token); }
  bool allows(int32_t token) const {
    return (words_[static_cast<size_t>(token) / kWordBits] & bit_of(token)) != 0;
  }
  void clear() { std::ranges::fill(words_, 0u); }
  bool is_empty() const {
    return std::ranges::all_of(words_, [](uint32_t word) { return word == 0; });
  }

  /// Calls visit(token) for each allowed token, ascending.
  template <class Visit>
  void for_each(Visit visit) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint32_t rest = words_[i]; rest != 0; rest &= rest - 1) {
        visit(static_cast<int32_t>(i * kWordBits) + std::countr_zero(rest));
      }
    }
  }

 private:
  static uint32_t bit_of(int32_t token) {
    return uint32_t{1} << (static_cast<size_t>(token) % kWordBits);
  }
  uint32_t& word_of(int32_t token) { return words_[static_cast<size_t>(token) / kWordBits]; }

  std::vector<uint32_t> words_;
};

}  // namespace wl::sampling
