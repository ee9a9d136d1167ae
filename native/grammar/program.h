#pragma once
// A grammar compiled for one vocabulary: a graph of nodes that matcher states stand on. Rules are
// called with a stack, loops count on it, so neither recursion nor large bounds cost nodes.
// Immutable.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/automaton.h"
#include "grammar/expr.h"
#include "grammar/vocabulary_index.h"

namespace wl::grammar {

enum class NodeKind : uint8_t {
  kLiteral,   // text; then next
  kMatch,     // a text of automaton `index`, units within bounds; then next
  kToken,     // the special token `index`; then next
  kBranch,    // goes on at each of its targets
  kCall,      // the rule at `index`; then next
  kReturn,    // end of a rule
  kLoop,      // the part at `index`, as often as bounds say; then next
  kLoopBack,  // end of the part of the loop at `index`
  kEnd,       // end of the grammar
};

struct Node {
  NodeKind kind = NodeKind::kEnd;
  int32_t next = -1;
  int32_t index = -1;     // see NodeKind; kLiteral, kBranch: first in the pool
  int32_t num_items = 0;  // kLiteral: bytes; kBranch: targets
  UnitBounds bounds = {};
};

class Program {
 public:
  /// Errors: ERR_GRAMMAR: left recursion, nothing can match, too large.
  static Result<std::unique_ptr<const Program>> compile(const Grammar& grammar,
                                                        VocabularyIndex& vocabulary);

  const Node& node(int32_t index) const { return nodes_[static_cast<size_t>(index)]; }
  int32_t entry() const { return entry_; }
  std::string_view literal(const Node& node) const {
    return std::string_view(literals_).substr(static_cast<size_t>(node.index),
                                              static_cast<size_t>(node.num_items));
  }
  std::span<const int32_t> targets(const Node& node) const {
    return std::span(targets_).subspan(static_cast<size_t>(node.index),
                                       static_cast<size_t>(node.num_items));
  }
  Automaton& automaton(const Node& node) const {
    return *automata_[static_cast<size_t>(node.index)];
  }
  const ByteState& automaton_state(const Node& node, int32_t state) const {
    return automaton(node).dfa().states[static_cast<size_t>(state)];
  }
  size_t num_nodes() const { return nodes_.size(); }

 private:
  friend class ProgramBuilder;
  std::vector<Node> nodes_;
  std::string literals_;
  std::vector<int32_t> targets_;
  std::vector<std::shared_ptr<Automaton>> automata_;
  int32_t entry_ = 0;
};

}  // namespace wl::grammar
