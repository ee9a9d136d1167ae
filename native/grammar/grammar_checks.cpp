#include "grammar/grammar_checks.h"

#include <string>
#include <utility>

namespace wl::grammar {
namespace {

constexpr int kMaxDepth = 2000;       // nested expressions: one stack frame each
constexpr int kMaxExprs = 1'000'000;  // bounds what compiling costs

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;  // clang 16 does not deduce it

/// The expressions directly below `expr`.
template <class Visit>
void for_each_child(const Expr& expr, Visit visit) {
  if (const auto* sequence = std::get_if<Sequence>(&expr.node)) {
    for (const ExprPtr& part : sequence->parts) visit(*part);
  } else if (const auto* choice = std::get_if<Choice>(&expr.node)) {
    for (const ExprPtr& option : choice->options) visit(*option);
  } else if (const auto* repeat = std::get_if<Repeat>(&expr.node)) {
    visit(*repeat->part);
  }
}

/// @param num_left expressions that may still be seen, shared ones each time
Status check_expr(const Expr& expr, size_t num_rules, int depth, int& num_left) {
  if (depth > kMaxDepth || --num_left < 0) {
    return Error{ErrorCode::kGrammar, "the grammar is too large, or nested too deeply"};
  }
  if (const auto* reference = std::get_if<Reference>(&expr.node)) {
    if (reference->rule < 0 || static_cast<size_t>(reference->rule) >= num_rules) {
      return Error{ErrorCode::kGrammar, "the grammar names a rule that does not exist"};
    }
  }
  Status status;
  for_each_child(expr, [&](const Expr& child) {
    if (status.ok()) status = check_expr(child, num_rules, depth + 1, num_left);
  });
  return status;
}

/// Rules that a text of `expr` can begin with.
void add_first_rules(const Expr& expr, const RuleFacts& facts, std::vector<int32_t>& out) {
  if (const auto* reference = std::get_if<Reference>(&expr.node)) out.push_back(reference->rule);
  bool is_behind_text = false;
  const bool is_sequence = std::holds_alternative<Sequence>(expr.node);
  for_each_child(expr, [&](const Expr& child) {
    if (is_behind_text) return;
    add_first_rules(child, facts, out);
    is_behind_text = is_sequence && !is_nullable(child, facts);
  });
}

std::string rule_name(const Grammar& grammar, int32_t rule) {
  const auto named = grammar.rule_names.find(rule);
  return named == grammar.rule_names.end() ? std::to_string(rule) : quote_bytes(named->second);
}

enum class Visit : uint8_t { kNone, kOpen, kDone };

/// Depth first over "can begin with"; an open rule met again is left-recursive.
Status check_left_recursion(const Grammar& grammar, const RuleFacts& facts) {
  struct Level {
    int32_t rule;
    std::vector<int32_t> first_rules;
  };
  std::vector<Visit> visits(grammar.rules.size(), Visit::kNone);
  std::vector<Level> path;
  const auto open = [&](int32_t rule) {
    visits[static_cast<size_t>(rule)] = Visit::kOpen;
    Level& level = path.emplace_back(Level{rule, {}});
    add_first_rules(*grammar.rules[static_cast<size_t>(rule)], facts, level.first_rules);
  };
  for (size_t start = 0; start < grammar.rules.size(); ++start) {
    if (visits[start] == Visit::kNone) open(static_cast<int32_t>(start));
    while (!path.empty()) {
      Level& level = path.back();
      if (level.first_rules.empty()) {
        visits[static_cast<size_t>(level.rule)] = Visit::kDone;
        path.pop_back();
        continue;
      }
      const int32_t next = level.first_rules.back();
      level.first_rules.pop_back();
      if (visits[static_cast<size_t>(next)] == Visit::kOpen) {
        return Error{ErrorCode::kGrammar, "rule " + rule_name(grammar, next) +
                                              " of the grammar can begin with itself (left "
                                              "recursion), which is not supported"};
      }
      if (visits[static_cast<size_t>(next)] == Visit::kNone) open(next);
    }
  }
  return {};
}

/// Repeats `update` (rule -> new value) until no rule changes from false to true.
template <class Update>
void grow(std::vector<bool>& values, Update update) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (size_t rule = 0; rule < values.size(); ++rule) {
      if (values[rule] || !update(rule)) continue;
      values[rule] = true;
      has_changed = true;
    }
  }
}

}  // namespace

bool is_productive(const Expr& expr, const RuleFacts& facts) {
  const auto all = [&](const std::vector<ExprPtr>& parts) {
    for (const ExprPtr& part : parts) {
      if (!is_productive(*part, facts)) return false;
    }
    return true;
  };
  const auto any = [&](const std::vector<ExprPtr>& options) {
    for (const ExprPtr& option : options) {
      if (is_productive(*option, facts)) return true;
    }
    return false;
  };
  return std::visit(Overloaded{[](const Literal&) { return true; },
                               [](const Marker&) { return true; }, [](const Text&) { return true; },
                               [](const Match& match) {
                                 return !match.dfa->states.empty() &&
                                        match.bounds.min <= match.bounds.max;
                               },
                               [&](const Sequence& sequence) { return all(sequence.parts); },
                               [&](const Choice& choice) { return any(choice.options); },
                               [&](const Repeat& repeat) {
                                 if (repeat.min > repeat.max) return false;
                                 return repeat.min == 0 || is_productive(*repeat.part, facts);
                               },
                               [&](const Reference& reference) -> bool {
                                 return facts.is_productive[static_cast<size_t>(reference.rule)];
                               }},
                    expr.node);
}

bool is_nullable(const Expr& expr, const RuleFacts& facts) {
  const auto all = [&](const std::vector<ExprPtr>& parts) {
    for (const ExprPtr& part : parts) {
      if (!is_nullable(*part, facts)) return false;
    }
    return true;
  };
  const auto any = [&](const std::vector<ExprPtr>& options) {
    for (const ExprPtr& option : options) {
      if (is_nullable(*option, facts)) return true;
    }
    return false;
  };
  return std::visit(Overloaded{[](const Literal& literal) { return literal.bytes.empty(); },
                               [](const Marker& marker) { return marker.text.empty(); },
                               [](const Text& text) { return text.until.empty(); },
                               [](const Match& match) {
                                 return match.bounds.min == 0 && !match.dfa->states.empty() &&
                                        match.dfa->states[0].accepts;
                               },
                               [&](const Sequence& sequence) { return all(sequence.parts); },
                               [&](const Choice& choice) { return any(choice.options); },
                               [&](const Repeat& repeat) {
                                 return repeat.min == 0 || is_nullable(*repeat.part, facts);
                               },
                               [&](const Reference& reference) -> bool {
                                 return facts.is_nullable[static_cast<size_t>(reference.rule)];
                               }},
                    expr.node);
}

RuleFacts rule_facts(const Grammar& grammar) {
  RuleFacts facts{std::vector<bool>(grammar.rules.size()), std::vector<bool>(grammar.rules.size())};
  grow(facts.is_productive,
       [&](size_t rule) { return is_productive(*grammar.rules[rule], facts); });
  grow(facts.is_nullable, [&](size_t rule) { return is_nullable(*grammar.rules[rule], facts); });
  return facts;
}

Status check_rules(const Grammar& grammar) {
  int num_left = kMaxExprs;
  for (const ExprPtr& rule : grammar.rules) {
    if (rule == nullptr) return Error{ErrorCode::kGrammar, "a rule of the grammar has no text"};
    if (Status status = check_expr(*rule, grammar.rules.size(), 0, num_left); !status.ok())
      return status;
  }
  const auto root = static_cast<size_t>(grammar.root);
  if (grammar.root < 0 || root >= grammar.rules.size()) {
    return Error{ErrorCode::kGrammar, "the grammar names a rule that does not exist"};
  }
  const RuleFacts facts = rule_facts(grammar);
  if (!facts.is_productive[root]) {
    return Error{ErrorCode::kGrammar, "no text can match the grammar"};
  }
  return check_left_recursion(grammar, facts);
}

}  // namespace wl::grammar
