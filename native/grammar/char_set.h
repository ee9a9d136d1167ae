#pragma once
// Sets of characters: ranges of Unicode scalar values. Surrogates are in no set.

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace wl::grammar {

constexpr uint32_t kMaxCodePoint = 0x10ffff;

struct CharRange {
  uint32_t first = 0, last = 0;  // inclusive
  auto operator<=>(const CharRange&) const = default;
};

/// Ascending, disjoint, not adjacent (but around the surrogates).
using CharSet = std::vector<CharRange>;

/// A set of any ranges, in any order.
CharSet make_char_set(std::vector<CharRange> ranges);
CharSet complement(const CharSet& set);
bool contains(const CharSet& set, uint32_t code_point);
/// Every character.
const CharSet& any_char();
/// `\d`, `\w` and `\s` of ECMA-262: the first two ASCII, the last all white space of Unicode.
const CharSet& digit_chars();
const CharSet& word_chars();
const CharSet& space_chars();
/// With the other case of each ASCII letter in it.
CharSet fold_ascii_case(const CharSet& set);
/// `\p{name}` of the general categories L, Lu, Ll, Lt, Lm, Lo, M, N, P and S, by short or long
/// name; nullopt for all others.
std::optional<CharSet> category_chars(std::string_view name);

}  // namespace wl::grammar
