#include "grammar/program.h"

#include <utility>

#include "grammar/encoded_dfa.h"
#include "grammar/grammar_checks.h"
#include "grammar/repeated_dfa.h"

namespace wl::grammar {

/// Compiles backwards: every part is given the node that follows it. Precondition: check_rules().
class ProgramBuilder {
 public:
  ProgramBuilder(const Grammar& grammar, VocabularyIndex& vocabulary)
      : grammar_(grammar), vocabulary_(vocabulary), facts_(rule_facts(grammar)) {}

  std::unique_ptr<const Program> build() {
    const int32_t end = add({.kind = NodeKind::kEnd});
    const int32_t back = add({.kind = NodeKind::kReturn});
    std::vector<int32_t> entries(grammar_.rules.size(), -1);
    for (size_t rule = 0; rule < grammar_.rules.size(); ++rule) {
      if (facts_.is_productive[rule]) entries[rule] = emit(*grammar_.rules[rule], back);
    }
    for (Node& node : program_->nodes_) {
      if (node.kind == NodeKind::kCall) node.index = entries[static_cast<size_t>(node.index)];
    }
    program_->entry_ = emit_call(entries[static_cast<size_t>(grammar_.root)], end);
    return std::move(program_);
  }

 private:
  int32_t add(const Node& node) {
    program_->nodes_.push_back(node);
    return static_cast<int32_t>(program_->nodes_.size()) - 1;
  }

  int32_t emit_call(int32_t index, int32_t next) {
    return add({.kind = NodeKind::kCall, .next = next, .index = index});
  }

  int32_t emit(const Expr& expr, int32_t next) {
    return std::visit([&](const auto& node) { return emit_node(node, next); }, expr.node);
  }

  int32_t emit_literal(std::string_view bytes, int32_t next) {
    if (bytes.empty()) return next;
    const auto start = static_cast<int32_t>(program_->literals_.size());
    program_->literals_ += bytes;
    return add({.kind = NodeKind::kLiteral,
                .next = next,
                .index = start,
                .num_items = static_cast<int32_t>(bytes.size())});
  }

  int32_t emit_dfa(const std::shared_ptr<const ByteDfa>& dfa, UnitBounds bounds, int32_t next) {
    const auto index = static_cast<int32_t>(program_->automata_.size());
    program_->automata_.push_back(vocabulary_.automaton(dfa));
    return add({.kind = NodeKind::kMatch, .next = next, .index = index, .bounds = bounds});
  }

  int32_t emit_token(tokenizer::TokenId token, int32_t next) {
    return add({.kind = NodeKind::kToken, .next = next, .index = token});
  }

  int32_t emit_branch(const std::vector<int32_t>& targets) {
    if (targets.size() == 1) return targets[0];
    const auto start = static_cast<int32_t>(program_->targets_.size());
    program_->targets_.insert(program_->targets_.end(), targets.begin(), targets.end());
    return add({.kind = NodeKind::kBranch,
                .index = start,
                .num_items = static_cast<int32_t>(targets.size())});
  }

  int32_t emit_node(const Literal& node, int32_t next) { return emit_literal(node.bytes, next); }

  int32_t emit_node(const Match& node, int32_t next) {
    return emit_dfa(node.dfa, node.bounds, next);
  }

  int32_t emit_node(const Reference& node, int32_t next) { return emit_call(node.rule, next); }

  int32_t emit_node(const Sequence& node, int32_t next) {
    for (auto part = node.parts.rbegin(); part != node.parts.rend(); ++part) {
      next = emit(**part, next);
    }
    return next;
  }

  int32_t emit_node(const Choice& node, int32_t next) {
    if (const auto dfa = dfa_of(node)) return emit_dfa(dfa, {}, next);
    std::vector<int32_t> targets;
    for (const ExprPtr& option : node.options) {
      if (is_productive(*option, facts_)) targets.push_back(emit(*option, next));
    }
    return emit_branch(targets);
  }

  using SharedDfa = std::shared_ptr<const ByteDfa>;

  /// A choice of texts is one automaton; null: it is one of other things too.
  static SharedDfa dfa_of(const Choice& node) {
    std::vector<std::string> texts;
    for (const ExprPtr& option : node.options) {
      const auto* text = std::get_if<Literal>(&option->node);
      if (text == nullptr || text->bytes.empty()) return nullptr;
      texts.push_back(text->bytes);
    }
    if (texts.size() < 2) return nullptr;
    return std::make_shared<const ByteDfa>(literals_dfa(std::move(texts)));
  }

  static SharedDfa repeated_dfa_of(const Expr& part) {
    SharedDfa once;
    if (const auto* match = std::get_if<Match>(&part.node)) {
      if (match->bounds == UnitBounds{}) once = match->dfa;
    } else if (const auto* choice = std::get_if<Choice>(&part.node)) {
      once = dfa_of(*choice);
    }
    auto repeated = once == nullptr ? std::nullopt : repeated_dfa(*once);
    if (!repeated) return nullptr;
    return std::make_shared<const ByteDfa>(std::move(*repeated));
  }

  int32_t emit_node(const Repeat& node, int32_t next) {
    if (node.max == 0 || !is_productive(*node.part, facts_)) return next;
    if (node.max == 1) {
      const int32_t part = emit(*node.part, next);
      return node.min == 1 ? part : emit_branch({part, next});
    }
    if (const auto dfa = repeated_dfa_of(*node.part)) {
      return emit_dfa(dfa, {node.min, node.max}, next);
    }
    // An empty part repeats as often as it must without being written.
    const uint32_t min = is_nullable(*node.part, facts_) ? 0 : node.min;
    const int32_t loop = add({.kind = NodeKind::kLoop, .next = next, .bounds = {min, node.max}});
    const int32_t part = emit(*node.part, add({.kind = NodeKind::kLoopBack, .index = loop}));
    program_->nodes_[static_cast<size_t>(loop)].index = part;
    return loop;
  }

  /// Special tokens where the text spells them, text between them.
  int32_t emit_node(const Marker& node, int32_t next) {
    const std::string_view text = node.text;
    struct Part {
      std::string_view text;
      const tokenizer::SpecialToken* token;
    };
    std::vector<Part> parts;
    size_t text_start = 0;
    for (size_t at = 0; at < text.size();) {
      const tokenizer::SpecialToken* token = vocabulary_.special_token_at(text.substr(at));
      if (token == nullptr) {
        ++at;
        continue;
      }
      parts.push_back({text.substr(text_start, at - text_start), nullptr});
      parts.push_back({{}, token});
      at += token->text.size();
      text_start = at;
    }
    next = emit_literal(text.substr(text_start), next);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      next = part->token != nullptr ? emit_token(part->token->id, next)
                                    : emit_literal(part->text, next);
    }
    return next;
  }

  /// A control token has no bytes: it ends the text from outside of its automaton.
  int32_t emit_node(const Text& node, int32_t next) {
    const auto control_token = [&](const std::string& marker) {
      const tokenizer::SpecialToken* token = vocabulary_.special_token_at(marker);
      const bool is_whole = token != nullptr && token->text.size() == marker.size();
      return is_whole && token->is_control ? token : nullptr;
    };
    Text text;
    for (const std::string& marker : node.excluding) {
      if (!marker.empty() && control_token(marker) == nullptr) text.excluding.push_back(marker);
    }
    const tokenizer::SpecialToken* end = node.until.empty() ? nullptr : control_token(node.until);
    if (end == nullptr) text.until = node.until;
    return emit_dfa(vocabulary_.text_dfa(text), {},
                    end == nullptr ? next : emit_token(end->id, next));
  }

  const Grammar& grammar_;
  VocabularyIndex& vocabulary_;
  const RuleFacts facts_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
};

Result<std::unique_ptr<const Program>> Program::compile(const Grammar& grammar,
                                                        VocabularyIndex& vocabulary) {
  if (Status status = check_rules(grammar); !status.ok()) return status.error();
  return ProgramBuilder(grammar, vocabulary).build();
}

}  // namespace wl::grammar
