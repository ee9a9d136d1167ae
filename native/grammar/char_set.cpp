#include "grammar/char_set.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "tokenizer/unicode.h"

namespace wl::grammar {
namespace {

using tokenizer::CategorySet;
using tokenizer::CharCategory;

constexpr uint32_t kFirstSurrogate = 0xd800, kLastSurrogate = 0xdfff;

struct NamedCategories {
  std::string_view short_name, long_name;
  CategorySet categories;
};

constexpr std::array<NamedCategories, 10> kNamedCategories = {{
    {"L", "Letter", tokenizer::kLetters},
    {"Lu", "Uppercase_Letter", tokenizer::category_bit(CharCategory::kUppercase)},
    {"Ll", "Lowercase_Letter", tokenizer::category_bit(CharCategory::kLowercase)},
    {"Lt", "Titlecase_Letter", tokenizer::category_bit(CharCategory::kTitlecase)},
    {"Lm", "Modifier_Letter", tokenizer::category_bit(CharCategory::kModifierLetter)},
    {"Lo", "Other_Letter", tokenizer::category_bit(CharCategory::kOtherLetter)},
    {"M", "Mark", tokenizer::category_bit(CharCategory::kMark)},
    {"N", "Number", tokenizer::category_bit(CharCategory::kNumber)},
    {"P", "Punctuation", tokenizer::category_bit(CharCategory::kPunctuation)},
    {"S", "Symbol", tokenizer::category_bit(CharCategory::kSymbol)},
}};

/// Adds the range without its surrogates.
void add_scalars(CharRange range, std::vector<CharRange>* out) {
  range.last = std::min(range.last, kMaxCodePoint);
  if (range.first < kFirstSurrogate) {
    out->push_back({range.first, std::min(range.last, kFirstSurrogate - 1)});
  }
  if (range.last > kLastSurrogate) {
    out->push_back({std::max(range.first, kLastSurrogate + 1), range.last});
  }
}

}  // namespace

CharSet make_char_set(std::vector<CharRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const CharRange& a, const CharRange& b) { return a.first < b.first; });
  std::vector<CharRange> merged;
  for (const CharRange& range : ranges) {
    if (range.first > range.last) continue;
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  CharSet set;
  for (const CharRange& range : merged) add_scalars(range, &set);
  return set;
}

CharSet complement(const CharSet& set) {
  std::vector<CharRange> gaps;
  uint32_t next = 0;
  for (const CharRange& range : set) {
    if (range.first > next) gaps.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kMaxCodePoint) gaps.push_back({next, kMaxCodePoint});
  return make_char_set(std::move(gaps));
}

bool contains(const CharSet& set, uint32_t code_point) {
  const auto after =
      std::upper_bound(set.begin(), set.end(), code_point,
                       [](uint32_t value, const CharRange& range) { return value < range.first; });
  return after != set.begin() && code_point <= (after - 1)->last;
}

const CharSet& any_char() {
  static const auto& set = *new CharSet(make_char_set({{0, kMaxCodePoint}}));
  return set;
}

const CharSet& digit_chars() {
  static const auto& set = *new CharSet(make_char_set({{'0', '9'}}));
  return set;
}

const CharSet& word_chars() {
  static const auto& set =
      *new CharSet(make_char_set({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}));
  return set;
}

const CharSet& space_chars() {
  static const auto& set = *new CharSet(make_char_set({{0x9, 0xd},
                                                       {0x20, 0x20},
                                                       {0xa0, 0xa0},
                                                       {0x1680, 0x1680},
                                                       {0x2000, 0x200a},
                                                       {0x2028, 0x2029},
                                                       {0x202f, 0x202f},
                                                       {0x205f, 0x205f},
                                                       {0x3000, 0x3000},
                                                       {0xfeff, 0xfeff}}));
  return set;
}

CharSet fold_ascii_case(const CharSet& set) {
  std::vector<CharRange> ranges = set;
  for (uint32_t upper = 'A'; upper <= 'Z'; ++upper) {
    const uint32_t lower = upper - 'A' + 'a';
    if (contains(set, upper)) ranges.push_back({lower, lower});
    if (contains(set, lower)) ranges.push_back({upper, upper});
  }
  return make_char_set(std::move(ranges));
}

std::optional<CharSet> category_chars(std::string_view name) {
  const auto found = std::find_if(
      kNamedCategories.begin(), kNamedCategories.end(),
      [&](const NamedCategories& n) { return n.short_name == name || n.long_name == name; });
  if (found == kNamedCategories.end()) return std::nullopt;
  const std::span<const uint32_t> runs = tokenizer::category_runs();
  std::vector<CharRange> ranges;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto category = static_cast<CharCategory>(runs[i] % 16);
    if ((found->categories & tokenizer::category_bit(category)) == 0) continue;
    const uint32_t last = i + 1 < runs.size() ? runs[i + 1] / 16 - 1 : kMaxCodePoint;
    ranges.push_back({runs[i] / 16, last});
  }
  return make_char_set(std::move(ranges));
}

}  // namespace wl::grammar
