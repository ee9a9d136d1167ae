#pragma once
// The general category of a character, all that the splitters know of Unicode.

#include <cstdint>
#include <span>

namespace wl::tokenizer {

/// Every code point has exactly one; white space is told from punctuation and controls.
enum class CharCategory : uint8_t {
  kOther,
  kUppercase,       // \p{Lu}
  kLowercase,       // \p{Ll}
  kTitlecase,       // \p{Lt}
  kModifierLetter,  // \p{Lm}
  kOtherLetter,     // \p{Lo}
  kMark,            // \p{M}
  kNumber,          // \p{N}
  kPunctuation,     // \p{P}
  kSymbol,          // \p{S}
  kSpace,           // \s
};

/// A set of categories, as bits.
using CategorySet = uint16_t;
constexpr CategorySet category_bit(CharCategory category) {
  return static_cast<CategorySet>(1u << static_cast<unsigned>(category));
}
constexpr CategorySet kLetters =
    category_bit(CharCategory::kUppercase) | category_bit(CharCategory::kLowercase) |
    category_bit(CharCategory::kTitlecase) | category_bit(CharCategory::kModifierLetter) |
    category_bit(CharCategory::kOtherLetter);

/// Category of a code point; what is no code point (kNoCharacter) is "other".
CharCategory category_of(uint32_t code_point);

/// The generated table: first code point of a run * 16 + its category, ascending.
std::span<const uint32_t> category_runs();

}  // namespace wl::tokenizer
