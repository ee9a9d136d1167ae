#include "grammar/json_escape.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace wl::grammar {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

/// How JSON writes a byte inside a string; empty: as it is.
std::string escape_of(uint8_t byte) {
  switch (byte) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (byte >= 0x20) return {};
  return std::string("\\u00") + kHexDigits[byte >> 4] + kHexDigits[byte & 15];
}

/// The escaped form of one automaton. States keep their numbers; those inside escapes come behind.
class DfaEscaper {
 public:
  explicit DfaEscaper(const ByteDfa& dfa) : dfa_(dfa) {}

  /// nullopt: at one state some escaped bytes count as units and others do not.
  std::optional<ByteDfa> escape(bool is_counted) {
    out_.states.resize(dfa_.states.size());
    for (size_t state = 0; state < dfa_.states.size(); ++state) {
      out_.states[state].accepts = dfa_.states[state].accepts;
      if (!escape_state(state, is_counted)) return std::nullopt;
    }
    for (ByteState& state : out_.states) std::ranges::sort(state.edges, {}, &ByteEdge::first);
    return std::move(out_);
  }

 private:
  bool escape_state(size_t state, bool is_counted) {
    std::optional<EdgeKind> escape_kind;
    for (const ByteEdge& edge : dfa_.states[state].edges) {
      const EdgeKind kind = is_counted ? edge.kind : EdgeKind::kPlain;
      for (int byte = edge.first; byte <= edge.last; ++byte) {
        const std::string escape = escape_of(static_cast<uint8_t>(byte));
        if (escape.empty()) {
          add_plain(state, static_cast<uint8_t>(byte), kind, edge.target);
          continue;
        }
        if (escape_kind.value_or(kind) != kind) return false;
        escape_kind = kind;
        add_escape(state, escape, kind, edge.target);
      }
    }
    return true;
  }

  void add_plain(size_t state, uint8_t byte, EdgeKind kind, int32_t target) {
    std::vector<ByteEdge>& edges = out_.states[state].edges;
    const bool extends_last = !edges.empty() && edges.back().last + 1 == byte &&
                              edges.back().target == target && edges.back().kind == kind &&
                              edges.back().last != '\\';
    if (extends_last) {
      edges.back().last = byte;
    } else {
      edges.push_back({byte, byte, kind, target});
    }
  }

  /// A path through states that escapes of one state share as far as their text is the same.
  void add_escape(size_t state, const std::string& escape, EdgeKind kind, int32_t target) {
    size_t at = state;
    for (size_t i = 0; i < escape.size(); ++i) {
      const auto byte = static_cast<uint8_t>(escape[i]);
      if (i + 1 == escape.size()) {
        out_.states[at].edges.push_back({byte, byte, EdgeKind::kPlain, target});
        return;
      }
      at = shared_step(at, byte, i == 0 ? kind : EdgeKind::kPlain);
    }
  }

  size_t shared_step(size_t at, uint8_t byte, EdgeKind kind) {
    const auto [it, is_new] = steps_.try_emplace({at, byte}, out_.states.size());
    if (is_new) {
      out_.states[at].edges.push_back({byte, byte, kind, static_cast<int32_t>(it->second)});
      out_.states.emplace_back();
    }
    return it->second;
  }

  const ByteDfa& dfa_;
  ByteDfa out_;
  std::map<std::pair<size_t, uint8_t>, size_t> steps_;
};

class Escaper {
 public:
  explicit Escaper(Grammar& into)
      : into_(into), first_rule_(static_cast<int32_t>(into.rules.size())) {}

  Result<ExprPtr> escape(const Grammar& grammar) {
    for (const ExprPtr& rule : grammar.rules) {
      into_.rules.push_back(rule == nullptr ? nullptr : escape(rule));
    }
    if (failure_) return *failure_;
    for (const auto& [rule, name] : grammar.rule_names) {
      into_.rule_names.emplace(first_rule_ + rule, name);
    }
    return reference(first_rule_ + grammar.root);
  }

 private:
  /// What is shared stays shared.
  ExprPtr escape(const ExprPtr& expr) {
    ExprPtr& known = known_[expr.get()];
    if (known != nullptr) return known;
    ExprPtr escaped = std::visit([&](const auto& node) { return escape_node(node); }, expr->node);
    return known_[expr.get()] = std::move(escaped);
  }

  std::vector<ExprPtr> escape_all(const std::vector<ExprPtr>& exprs) {
    std::vector<ExprPtr> out;
    for (const ExprPtr& expr : exprs) out.push_back(escape(expr));
    return out;
  }

  ExprPtr escape_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
      const std::string escaped = escape_of(static_cast<uint8_t>(c));
      out += escaped.empty() ? std::string(1, c) : escaped;
    }
    return literal(std::move(out));
  }

  ExprPtr escape_node(const Literal& node) { return escape_text(node.bytes); }
  ExprPtr escape_node(const Marker& node) { return escape_text(node.text); }
  ExprPtr escape_node(const Text&) { return refuse("free text"); }
  ExprPtr escape_node(const Match& node) {
    const bool is_counted = node.bounds != UnitBounds{};
    auto dfa = DfaEscaper(*node.dfa).escape(is_counted);
    if (!dfa) return refuse("a counted text of characters of which some must be escaped");
    return match(std::make_shared<const ByteDfa>(std::move(*dfa)), node.bounds);
  }
  ExprPtr escape_node(const Sequence& node) { return sequence(escape_all(node.parts)); }
  ExprPtr escape_node(const Choice& node) { return choice(escape_all(node.options)); }
  ExprPtr escape_node(const Repeat& node) { return repeat(escape(node.part), node.min, node.max); }
  ExprPtr escape_node(const Reference& node) { return reference(first_rule_ + node.rule); }

  ExprPtr refuse(const char* what) {
    failure_ = Error{ErrorCode::kGrammar,
                     std::string("a grammar inside a JSON string cannot have ") + what};
    return literal("");
  }

  Grammar& into_;
  const int32_t first_rule_;  // in into_
  std::unordered_map<const Expr*, ExprPtr> known_;
  std::optional<Error> failure_;
};

}  // namespace

Result<ExprPtr> in_json_string(const Grammar& grammar, Grammar& into) {
  return Escaper(into).escape(grammar);
}

}  // namespace wl::grammar
