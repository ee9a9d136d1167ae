#include "grammar/regex.h"

#include "grammar/char_nfa.h"
#include "grammar/regex_syntax.h"

namespace wl::grammar {
namespace {

/// Parts of the expression, a repeated part as often as it is repeated. Each adds a few states.
constexpr size_t kMaxParts = 32'768;

/// Thompson's construction: each node of the tree becomes a part between two states.
class Builder {
 public:
  Result<CharNfa> run(const RegexNode& root, RegexOptions::Scope scope) {
    const int32_t start = nfa_.add_state();
    const int32_t end = nfa_.add_state();
    if (scope == RegexOptions::Scope::kSearch) {
      nfa_.add_edge(start, any_char(), start);
      nfa_.add_edge(end, any_char(), end);
    }
    const int32_t first = nfa_.add_state();
    nfa_.add_empty_edge(start, first);
    const int32_t last = add(root, first);
    nfa_.add_empty_edge(last, end);
    nfa_.set_accepting(end);
    if (is_full()) return {ErrorCode::kGrammar, "repeats too much"};
    return std::move(nfa_);
  }

 private:
  /// Adds what leads from `from` through the node; returns where it ends. Beyond the limit it does
  /// nothing more.
  int32_t add(const RegexNode& node, int32_t from) {
    if (is_full()) return from;
    ++num_parts_;
    switch (node.kind) {
      case RegexNode::Kind::kChars: {
        const int32_t to = nfa_.add_state();
        nfa_.add_edge(from, node.chars, to);
        return to;
      }
      case RegexNode::Kind::kSequence:
        for (const RegexNode& part : node.parts) from = add(part, from);
        return from;
      case RegexNode::Kind::kChoice: {
        const int32_t to = nfa_.add_state();
        for (const RegexNode& part : node.parts) {
          const int32_t first = nfa_.add_state();
          nfa_.add_empty_edge(from, first);
          nfa_.add_empty_edge(add(part, first), to);
        }
        return to;
      }
      case RegexNode::Kind::kRepeat:
        return add_repeat(node, from);
      case RegexNode::Kind::kAtStart:
      case RegexNode::Kind::kAtEnd: {
        const int32_t to = nfa_.add_state();
        nfa_.add_empty_edge(from, to,
                            node.kind == RegexNode::Kind::kAtStart ? CharNfa::Condition::kAtStart
                                                                   : CharNfa::Condition::kAtEnd);
        return to;
      }
    }
    return from;
  }

  int32_t add_repeat(const RegexNode& node, int32_t from) {
    const RegexNode& part = node.parts[0];
    for (uint32_t i = 0; i < node.min && !is_full(); ++i) from = add(part, from);
    const int32_t to = nfa_.add_state();
    nfa_.add_empty_edge(from, to);
    if (node.max == RegexNode::kUnbounded) {
      // A state of its own, so that the loop does not lead into what stands in front.
      const int32_t loop = nfa_.add_state();
      nfa_.add_empty_edge(from, loop);
      const int32_t end = add(part, loop);
      nfa_.add_empty_edge(end, loop);
      nfa_.add_empty_edge(loop, to);
      return to;
    }
    for (uint32_t i = node.min; i < node.max && !is_full(); ++i) {
      from = add(part, from);
      nfa_.add_empty_edge(from, to);
    }
    return to;
  }

  bool is_full() const { return num_parts_ > kMaxParts; }

  CharNfa nfa_;
  size_t num_parts_ = 0;
};

}  // namespace

Result<CharDfa> regex_dfa(const RegexNode& regex, RegexOptions::Scope scope) {
  const auto nfa = Builder().run(regex, scope);
  if (!nfa.ok()) return nfa.error();
  return determinize(nfa.value());
}

Result<CharDfa> parse_regex(std::string_view pattern, RegexOptions options) {
  const auto syntax = parse_regex_syntax(pattern, options);
  if (!syntax.ok()) return syntax.error();
  return regex_dfa(syntax.value(), options.scope);
}

}  // namespace wl::grammar
