#pragma once
// Cuts a Lark grammar into tokens.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wl::grammar {

struct LarkToken {
  enum class Kind : uint8_t {
    kName,
    kString,
    kRegex,
    kNumber,
    kPunctuation,
    kDirective,
    kNewline,
    kEnd
  };

  Kind kind = Kind::kEnd;
  std::string text;   // a string's characters, an expression between its slashes
  std::string flags;  // of strings and expressions
  int line = 0;
};

/// The tokens, kEnd last; no two kNewline in a row. Errors: ERR_GRAMMAR with the line.
Result<std::vector<LarkToken>> cut_lark_tokens(std::string_view definition);

/// An error in a line of the grammar.
Error lark_error(int line, const std::string& what);

}  // namespace wl::grammar
