#pragma once
// Tokens that are found in text by their literal spelling before anything else happens to it:
// control tokens (`<|im_end|>`), and added ones that are ordinary text (`<tool_call>`). Leftmost
// first, longest first.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/vocabulary.h"

namespace wl::tokenizer {

struct SpecialToken {
  TokenId id = 0;
  std::string text;
  bool is_control = false;
  bool strips_left = false;  // white space on that side belongs to the token
  bool strips_right = false;
  bool is_word = false;  // not found inside a word
};

class SpecialTokens {
 public:
  SpecialTokens() = default;
  /// Tokens of empty text are left out. Of two with one text the first counts.
  explicit SpecialTokens(std::vector<SpecialToken> tokens);

  /// Looking for the tokens takes up to their length at each character of a text, so that is
  /// bounded. Errors: ERR_TOKENIZER_FORMAT.
  Status check_lengths() const;

  struct Match {
    size_t start;
    size_t end;
    const SpecialToken* token;
  };
  /// The next one at or after `from`, without the white space that it strips.
  std::optional<Match> find(std::string_view text, size_t from) const;
  /// By its whole text.
  const SpecialToken* find_text(std::string_view text) const;
  const std::vector<SpecialToken>& all() const { return tokens_; }

 private:
  const SpecialToken* longest_at(std::string_view text, size_t pos) const;

  struct Range {
    uint32_t first = 0;
    uint32_t end = 0;
  };
  std::vector<SpecialToken> tokens_;        // sorted by text
  std::array<Range, 256> by_first_byte_{};  // into tokens_
};

}  // namespace wl::tokenizer
