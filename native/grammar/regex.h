#pragma once
// Regular expressions as automata. The syntax is that of ECMA-262 with the u flag, as JSON Schema
// uses it; escapes of punctuation that the u flag forbids are taken as the character. What is not
// regular, or not supported, is refused: look-around, back references, \b and \B, in-line flags,
// \p of other than general categories (char_set.h).
//
// Lark's expressions are Python's: there `.` is everything but the line feed, and the flags i and s
// may be set. \d, \w and \s are those of ECMA-262 there too, which is less than Python's.

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "grammar/char_dfa.h"

namespace wl::grammar {

struct RegexOptions {
  enum class Scope : uint8_t {
    kWhole,   // the expression matches the whole string
    kSearch,  // it matches somewhere in it
  };
  enum class Dot : uint8_t { kNoLineTerminator, kNoLineFeed, kAny };

  Scope scope = Scope::kWhole;
  Dot dot = Dot::kNoLineTerminator;
  bool ignores_ascii_case = false;
};

/// The strings that match. Errors: ERR_GRAMMAR: malformed, not supported, too large.
Result<CharDfa> parse_regex(std::string_view pattern, RegexOptions options = {});

}  // namespace wl::grammar
