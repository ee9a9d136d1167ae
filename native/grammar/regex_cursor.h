#pragma once
// A place in the pattern of a regular expression, and the first error that was found there.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace wl::grammar {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct RegexCursor {
  std::string_view text;  // valid UTF-8
  size_t pos = 0;
  std::string error;  // empty: none

  /// False, for the caller to return.
  bool fail(std::string what) {
    error = std::move(what) + " at byte " + std::to_string(pos);
    return false;
  }

  bool at_end() const { return pos >= text.size(); }
  char peek() const { return at_end() ? '\0' : text[pos]; }
  bool is_at(std::string_view word) const { return text.substr(pos, word.size()) == word; }
  bool consume(std::string_view word) {
    if (!is_at(word)) return false;
    pos += word.size();
    return true;
  }

  uint32_t take_char() {
    const Utf8Char c = char_at(text, pos);
    pos += c.num_bytes;
    return c.code_point;
  }
};

}  // namespace wl::grammar
