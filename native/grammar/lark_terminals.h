#pragma once
// The terminals of a Lark grammar: each becomes one automaton, with the terminals that it names in
// it.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/expr.h"
#include "grammar/lark_syntax.h"
#include "grammar/regex_syntax.h"

namespace wl::grammar {

/// Rules and terminals by name.
using LarkDefinitions = std::map<std::string, const LarkDefinition*, std::less<>>;

class LarkTerminals {
 public:
  explicit LarkTerminals(const LarkDefinitions& definitions) : definitions_(definitions) {}

  /// Terminals of Lark's library `common`. Errors: ERR_GRAMMAR: it has none of that name.
  Status add_imports(const LarkSyntax& syntax);
  /// The texts of a terminal, or of a part of a rule that is one. Errors: ERR_GRAMMAR with the
  /// line.
  Result<ExprPtr> expr_of(const LarkNode& node);

 private:
  Result<RegexNode> regex_of(const LarkNode& node);
  Result<RegexNode> regex_of_parts(const LarkNode& node);
  Result<RegexNode> regex_of_name(const LarkNode& node);

  const LarkDefinitions& definitions_;
  std::map<std::string, RegexNode, std::less<>> regexes_;
  std::map<std::string, ExprPtr, std::less<>> exprs_;
  std::vector<std::string> open_;  // being read, each named by the one before
};

/// A name that nothing defines.
Error undefined_in_lark(const LarkNode& node);

}  // namespace wl::grammar
