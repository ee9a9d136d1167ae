#pragma once
// A small vocabulary, matchers over it, and a reference that says by brute force whether an
// expression derives a text.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "check.h"
#include "golden_file.h"
#include "grammar/grammar.h"
#include "tokenizer/json_tokenizer.h"

namespace wl::test {

inline std::shared_ptr<const tokenizer::Tokenizer> small_tokenizer() {
  const std::string json = *read_file(golden_path("tokenizers/llama3-rope/tokenizer.json"));
  return std::make_shared<const tokenizer::Tokenizer>(tokenizer::tokenizer_from_json(json).value());
}

inline std::shared_ptr<const grammar::CompiledGrammar> compile(
    const grammar::Grammar& grammar, std::shared_ptr<const tokenizer::Tokenizer> tokenizer) {
  return grammar::CompiledGrammar::compile(grammar, grammar::index_vocabulary(tokenizer)).value();
}

inline grammar::Matcher matcher_of(const grammar::Grammar& grammar) {
  return grammar::Matcher(compile(grammar, small_tokenizer()));
}

/// Takes the tokenizer's own tokens of the text; false when one is refused.
inline bool accept_text(grammar::Matcher& matcher, std::string_view text) {
  for (const auto token : small_tokenizer()->encode(text, {.starts_prompt = false})) {
    if (!matcher.accept(token)) return false;
  }
  return true;
}

inline bool matches(const grammar::Grammar& grammar, std::string_view text) {
  grammar::Matcher matcher = matcher_of(grammar);
  return accept_text(matcher, text) && matcher.is_complete();
}

inline std::vector<uint32_t> mask_of(const grammar::Matcher& matcher, size_t vocab) {
  std::vector<uint32_t> mask((vocab + 31) / 32);
  matcher.fill_mask(mask);
  return mask;
}

inline bool has_bit(const std::vector<uint32_t>& mask, size_t token) {
  return (mask[token / 32] >> (token % 32) & 1) != 0;
}

/// Whole texts that an expression without markers derives, found by trying all ways.
class Derivation {
 public:
  Derivation(const grammar::Grammar& grammar, std::string_view text)
      : grammar_(grammar), text_(text) {}
  bool holds() {
    return ends(*grammar_.rules[static_cast<size_t>(grammar_.root)], 0).contains(text_.size());
  }

 private:
  using Ends = std::set<size_t>;

  Ends ends(const grammar::Expr& expr, size_t start) {
    const auto key = std::pair(&expr, start);
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    known_[key] = {};
    return known_[key] =
               std::visit([&](const auto& node) { return ends_of(node, start); }, expr.node);
  }
  Ends ends_of(const grammar::Literal& node, size_t start) {
    if (text_.substr(start).starts_with(node.bytes)) return {start + node.bytes.size()};
    return {};
  }
  Ends ends_of(const grammar::Marker&, size_t) { return {}; }
  Ends ends_of(const grammar::Text&, size_t) { return {}; }
  Ends ends_of(const grammar::Match& node, size_t start) {
    Ends out;
    int32_t state = 0;
    uint32_t num_units = 0;
    for (size_t at = start;; ++at) {
      const grammar::ByteState& here = node.dfa->states[static_cast<size_t>(state)];
      if (here.accepts && num_units >= node.bounds.min && num_units <= node.bounds.max)
        out.insert(at);
      if (at == text_.size()) return out;
      const auto byte = static_cast<uint8_t>(text_[at]);
      bool has_moved = false;
      for (const grammar::ByteEdge& edge : here.edges) {
        if (byte < edge.first || byte > edge.last) continue;
        num_units += edge.kind == grammar::EdgeKind::kStartsUnit;
        state = edge.target;
        has_moved = true;
        break;
      }
      if (!has_moved) return out;
    }
  }
  Ends ends_of(const grammar::Sequence& node, size_t start) {
    Ends at = {start};
    for (const grammar::ExprPtr& part : node.parts) at = ends_of_all(*part, at);
    return at;
  }
  Ends ends_of(const grammar::Choice& node, size_t start) {
    Ends out;
    for (const grammar::ExprPtr& option : node.options) out.merge(ends(*option, start));
    return out;
  }
  Ends ends_of(const grammar::Repeat& node, size_t start) {
    Ends out, at = {start};
    for (uint32_t round = 0; !at.empty() && round <= text_.size() + node.min; ++round) {
      if (round >= node.min) out.insert(at.begin(), at.end());
      if (round == node.max) break;
      at = ends_of_all(*node.part, at);
    }
    return out;
  }
  Ends ends_of(const grammar::Reference& node, size_t start) {
    return ends(*grammar_.rules[static_cast<size_t>(node.rule)], start);
  }
  Ends ends_of_all(const grammar::Expr& expr, const Ends& starts) {
    Ends out;
    for (const size_t start : starts) out.merge(ends(expr, start));
    return out;
  }

  const grammar::Grammar& grammar_;
  const std::string_view text_;
  std::map<std::pair<const grammar::Expr*, size_t>, Ends> known_;
};

}  // namespace wl::test
