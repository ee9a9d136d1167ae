#pragma once
// The syntax tree of a regular expression (regex.h).

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/char_set.h"
#include "grammar/regex.h"

namespace wl::grammar {

struct RegexNode {
  enum class Kind : uint8_t { kChars, kSequence, kChoice, kRepeat, kAtStart, kAtEnd };

  static constexpr uint32_t kUnbounded = UINT32_MAX;

  Kind kind = Kind::kSequence;
  CharSet chars;                 // of kChars
  std::vector<RegexNode> parts;  // of kSequence, kChoice; the one of kRepeat
  uint32_t min = 0, max = 0;     // of kRepeat
};

/// Errors: ERR_GRAMMAR: malformed or not supported. Groups nest to a bounded depth.
Result<RegexNode> parse_regex_syntax(std::string_view pattern, const RegexOptions& options);

/// The strings that match. Errors: ERR_GRAMMAR, too large.
Result<CharDfa> regex_dfa(const RegexNode& regex, RegexOptions::Scope scope);

}  // namespace wl::grammar
