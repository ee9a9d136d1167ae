#pragma once
// The tokens of a vocabulary as a trie over their output bytes, laid out in preorder, so that a
// subtree is one range of nodes and one range of tokens. Immutable. Tokens without bytes (control
// tokens, placeholders) are not in it.

#include <cstdint>
#include <span>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace wl::grammar {

using tokenizer::TokenId;

class TokenTrie {
 public:
  static constexpr int32_t kRoot = 0;

  explicit TokenTrie(const tokenizer::TokenBytes& token_bytes);

  /// Children of node n are n + 1, end(n + 1), ... below end(n).
  int32_t end(int32_t node) const { return nodes_[static_cast<size_t>(node)].end; }
  uint8_t byte(int32_t node) const { return nodes_[static_cast<size_t>(node)].byte; }
  /// Tokens that are spelled by the path to this node.
  std::span<const TokenId> tokens(int32_t node) const {
    const auto at = static_cast<size_t>(node);
    const uint32_t first = nodes_[at].first_token;
    return std::span(tokens_).subspan(first, nodes_[at + 1].first_token - first);
  }
  /// The child for this byte, or -1.
  int32_t child(int32_t node, uint8_t byte) const;
  int32_t num_nodes() const { return static_cast<int32_t>(nodes_.size()) - 1; }

 private:
  struct Node {
    int32_t end = 0;
    uint32_t first_token = 0;  // in tokens_
    uint8_t byte = 0;
  };
  void index_children();

  std::vector<Node> nodes_;      // and one behind the last
  std::vector<TokenId> tokens_;  // ascending by bytes, then by id
  // The children of all nodes, ascending by byte within one: those of node n are
  // [first_child_[n], first_child_[n + 1]). Siblings lie far apart in nodes_.
  std::vector<uint32_t> first_child_;
  std::vector<uint8_t> child_bytes_;
  std::vector<int32_t> children_;
};

}  // namespace wl::grammar
