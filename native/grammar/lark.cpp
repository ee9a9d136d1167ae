#include "grammar/lark.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "grammar/lark_lexer.h"
#include "grammar/lark_syntax.h"
#include "grammar/lark_terminals.h"

namespace wl::grammar {
namespace {

using Kind = LarkNode::Kind;

/// Rules become rules of the grammar; what stands between them is terminals.
class Compiler {
 public:
  Compiler(const LarkSyntax& syntax, Grammar* grammar) : syntax_(syntax), grammar_(*grammar) {}

  Result<ExprPtr> run() {
    for (const LarkDefinition& definition : syntax_.definitions) {
      if (!definitions_.emplace(definition.name, &definition).second) {
        return lark_error(definition.line, quote_bytes(definition.name) + " is defined twice");
      }
    }
    WL_RETURN_IF_ERROR(terminals_.add_imports(syntax_));
    const auto start = definitions_.find("start");
    if (start == definitions_.end())
      return {ErrorCode::kGrammar, "Lark grammar: has no rule start"};
    WL_RETURN_IF_ERROR(read_ignored());
    ExprPtr root = rule_reference(*start->second);
    for (size_t i = 0; i < open_.size(); ++i) {
      const auto [rule, definition] = open_[i];
      auto body = expr_of(definition->body);
      if (!body.ok()) return body;
      grammar_.rules[static_cast<size_t>(rule)] = std::move(body).value();
    }
    return ignored_ == nullptr ? root : sequence({ignored_, std::move(root)});
  }

 private:
  struct OpenRule {
    int32_t rule;
    const LarkDefinition* definition;
  };

  /// What may stand behind every token, and in front of the first.
  Status read_ignored() {
    std::vector<ExprPtr> options;
    for (const LarkNode& node : syntax_.ignored) {
      auto ignored = terminals_.expr_of(node);
      if (!ignored.ok()) return ignored.error();
      options.push_back(std::move(ignored).value());
    }
    if (!options.empty()) ignored_ = repeat(choice(std::move(options)), 0, Repeat::kUnbounded);
    return {};
  }

  ExprPtr rule_reference(const LarkDefinition& definition) {
    const auto [found, is_new] =
        rules_.try_emplace(definition.name, static_cast<int32_t>(grammar_.rules.size()));
    if (is_new) {
      grammar_.rule_names.emplace(found->second, definition.name);
      grammar_.rules.emplace_back();
      open_.push_back({found->second, &definition});
    }
    return reference(found->second);
  }

  Result<ExprPtr> expr_of(const LarkNode& node) {
    switch (node.kind) {
      case Kind::kSequence:
      case Kind::kChoice: {
        std::vector<ExprPtr> parts;
        for (const LarkNode& part : node.parts) {
          auto expr = expr_of(part);
          if (!expr.ok()) return expr;
          parts.push_back(std::move(expr).value());
        }
        return node.kind == Kind::kChoice ? choice(std::move(parts)) : concatenation(parts);
      }
      case Kind::kRepeat: {
        auto part = expr_of(node.parts[0]);
        if (!part.ok()) return part;
        return repeat(std::move(part).value(), node.min, node.max);
      }
      case Kind::kName:
        if (!is_terminal_name(node.text)) {
          const auto found = definitions_.find(node.text);
          if (found == definitions_.end()) return undefined_in_lark(node);
          return rule_reference(*found->second);
        }
        break;
      default:
        break;
    }
    auto token = terminals_.expr_of(node);
    if (!token.ok() || ignored_ == nullptr) return token;
    return concatenation({token.value(), ignored_});
  }

  const LarkSyntax& syntax_;
  Grammar& grammar_;
  LarkDefinitions definitions_;
  LarkTerminals terminals_{definitions_};
  std::map<std::string, int32_t, std::less<>> rules_;
  std::vector<OpenRule> open_;
  ExprPtr ignored_;  // null: nothing is ignored
};

}  // namespace

Result<ExprPtr> lark_expr(std::string_view definition, Grammar* grammar) {
  const auto syntax = parse_lark_syntax(definition);
  if (!syntax.ok()) return syntax.error();
  return Compiler(syntax.value(), grammar).run();
}

}  // namespace wl::grammar
