#include "tokenizer/special_tokens.h"

#include <algorithm>

#include "base/utf8.h"
#include "tokenizer/unicode.h"

namespace wl::tokenizer {

namespace {

constexpr size_t kMaxTokenBytes = 256;  // real ones stay below 100: 31 spaces as U+2581

bool is_word_character(std::string_view text, size_t pos) {
  constexpr CategorySet kWord =
      kLetters | category_bit(CharCategory::kMark) | category_bit(CharCategory::kNumber);
  const uint32_t c = char_at(text, pos).code_point;
  return c == '_' || (category_bit(category_of(c)) & kWord) != 0;
}

/// Neither side of [start, end) goes on with a letter, number, mark or underscore.
bool is_whole_word(std::string_view text, size_t start, size_t end) {
  if (end < text.size() && is_word_character(text, end)) return false;
  return start == 0 || !is_word_character(text, char_before(text, start));
}

}  // namespace

SpecialTokens::SpecialTokens(std::vector<SpecialToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const SpecialToken& token) { return token.text.empty(); });
  std::ranges::stable_sort(tokens_, {}, &SpecialToken::text);
  const auto same = std::ranges::unique(tokens_, {}, &SpecialToken::text);
  tokens_.erase(same.begin(), same.end());
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    Range& range = by_first_byte_[static_cast<unsigned char>(tokens_[i].text[0])];
    if (range.end == 0) range.first = i;
    range.end = i + 1;
  }
}

Status SpecialTokens::check_lengths() const {
  for (const SpecialToken& token : tokens_) {
    if (token.text.size() <= kMaxTokenBytes) continue;
    return Error{ErrorCode::kTokenizerFormat,
                 "token " + std::to_string(token.id) + ", a control or added one, has " +
                     std::to_string(token.text.size()) + " bytes, at most " +
                     std::to_string(kMaxTokenBytes) + " are possible"};
  }
  return {};
}

std::optional<SpecialTokens::Match> SpecialTokens::find(std::string_view text, size_t from) const {
  for (size_t at = from; at < text.size(); ++at) {
    if (by_first_byte_[static_cast<unsigned char>(text[at])].end == 0) continue;
    const SpecialToken* token = longest_at(text, at);
    if (token == nullptr) continue;
    const size_t end = at + token->text.size();
    if (!token->is_word || is_whole_word(text, at, end)) return Match{at, end, token};
  }
  return std::nullopt;
}

/// Narrows the sorted tokens byte by byte to those that the text may spell out.
const SpecialToken* SpecialTokens::longest_at(std::string_view text, size_t pos) const {
  const SpecialToken* longest = nullptr;
  Range range = by_first_byte_[static_cast<unsigned char>(text[pos])];
  for (size_t length = 1; range.first < range.end; ++length) {
    // Of tokens with a common beginning, the one that is nothing else sorts first.
    if (tokens_[range.first].text.size() == length) longest = &tokens_[range.first++];
    if (pos + length >= text.size()) break;
    const auto byte_at = [length](const SpecialToken& token) {
      return static_cast<unsigned char>(token.text[length]);
    };
    const auto byte = static_cast<unsigned char>(text[pos + length]);
    const auto candidates = std::ranges::equal_range(
        tokens_.begin() + range.first, tokens_.begin() + range.end, byte, {}, byte_at);
    range.first = static_cast<uint32_t>(candidates.begin() - tokens_.begin());
    range.end = static_cast<uint32_t>(candidates.end() - tokens_.begin());
  }
  return longest;
}

const SpecialToken* SpecialTokens::find_text(std::string_view text) const {
  const auto found = std::ranges::lower_bound(
      tokens_, text, {}, [](const SpecialToken& token) { return std::string_view(token.text); });
  return found != tokens_.end() && found->text == text ? &*found : nullptr;
}

}  // namespace wl::tokenizer
