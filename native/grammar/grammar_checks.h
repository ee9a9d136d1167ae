#pragma once
// What must be known of rules before they are compiled. Every rule is defined, every reference
// names a rule: the caller checked.

#include <vector>

#include "base/result.h"
#include "grammar/expr.h"

namespace wl::grammar {

/// Facts of a grammar's rules, by rule.
struct RuleFacts {
  std::vector<bool> is_productive;  // derives at least one text
  std::vector<bool> is_nullable;    // derives the empty text
};

RuleFacts rule_facts(const Grammar& grammar);
bool is_productive(const Expr& expr, const RuleFacts& facts);
bool is_nullable(const Expr& expr, const RuleFacts& facts);

/// Errors: ERR_GRAMMAR: a rule that is missing, nested too deeply, or that can begin with itself.
Status check_rules(const Grammar& grammar);

}  // namespace wl::grammar
