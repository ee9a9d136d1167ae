#pragma once
// The syntax tree of a Lark grammar (lark.h).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wl::grammar {

struct LarkNode {
  enum class Kind : uint8_t { kString, kRegex, kRange, kName, kSequence, kChoice, kRepeat };

  static constexpr uint32_t kUnbounded = UINT32_MAX;

  Kind kind = Kind::kSequence;
  std::string text;             // of kString, kRegex, kName; the first character of kRange
  std::string last;             // of kRange: its last character
  std::string flags;            // of kString, kRegex
  std::vector<LarkNode> parts;  // of kSequence, kChoice; the one of kRepeat
  uint32_t min = 0, max = 0;    // of kRepeat
  int line = 0;
};

struct LarkDefinition {
  std::string name;  // of a terminal if it has upper-case letters
  LarkNode body;
  int line = 0;
};

struct LarkSyntax {
  std::vector<LarkDefinition> definitions;
  std::vector<std::string>
      imported;  // names of terminals of `common`, and what they are called here
  std::vector<std::string> imported_as;
  std::vector<LarkNode> ignored;
};

/// Errors: ERR_GRAMMAR: malformed or not supported, with the line.
Result<LarkSyntax> parse_lark_syntax(std::string_view definition);

/// Whether it is the name of a terminal rather than of a rule.
bool is_terminal_name(std::string_view name);

}  // namespace wl::grammar
