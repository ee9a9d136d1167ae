#include "grammar/token_trie.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace wl::grammar {
namespace {

std::string_view bytes_of(const tokenizer::TokenBytes& token_bytes, TokenId token) {
  const auto at = static_cast<size_t>(token);
  const uint32_t start = token_bytes.starts[at];
  return std::string_view(token_bytes.bytes).substr(start, token_bytes.starts[at + 1] - start);
}

std::vector<TokenId> sorted_tokens(const tokenizer::TokenBytes& token_bytes) {
  std::vector<TokenId> tokens;
  for (size_t id = 0; id + 1 < token_bytes.starts.size(); ++id) {
    if (token_bytes.starts[id + 1] > token_bytes.starts[id]) {
      tokens.push_back(static_cast<TokenId>(id));
    }
  }
  std::ranges::sort(tokens, [&](TokenId a, TokenId b) {
    const int order = bytes_of(token_bytes, a).compare(bytes_of(token_bytes, b));
    return order != 0 ? order < 0 : a < b;
  });
  return tokens;
}

size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

TokenTrie::TokenTrie(const tokenizer::TokenBytes& token_bytes)
    : tokens_(sorted_tokens(token_bytes)) {
  nodes_.push_back({});             // the root: the empty text
  std::vector<int32_t> path = {0};  // nodes from the root to the text before
  std::string_view before;
  const auto close_down_to = [&](size_t depth) {
    for (; path.size() > depth + 1; path.pop_back()) {
      nodes_[static_cast<size_t>(path.back())].end = static_cast<int32_t>(nodes_.size());
    }
  };
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    const std::string_view text = bytes_of(token_bytes, tokens_[i]);
    close_down_to(common_prefix(before, text));
    for (size_t depth = path.size() - 1; depth < text.size(); ++depth) {
      path.push_back(static_cast<int32_t>(nodes_.size()));
      nodes_.push_back({0, i, static_cast<uint8_t>(text[depth])});
    }
    before = text;
  }
  close_down_to(0);
  nodes_[0].end = static_cast<int32_t>(nodes_.size());
  nodes_.push_back({0, static_cast<uint32_t>(tokens_.size()), 0});
  index_children();
}

void TokenTrie::index_children() {
  for (int32_t node = 0; node < num_nodes(); ++node) {
    first_child_.push_back(static_cast<uint32_t>(children_.size()));
    for (int32_t at = node + 1; at < end(node); at = end(at)) {
      child_bytes_.push_back(byte(at));
      children_.push_back(at);
    }
  }
  first_child_.push_back(static_cast<uint32_t>(children_.size()));
}

int32_t TokenTrie::child(int32_t node, uint8_t byte) const {
  const uint32_t first = first_child_[static_cast<size_t>(node)];
  const uint32_t end = first_child_[static_cast<size_t>(node) + 1];
  const uint8_t* bytes = child_bytes_.data();
  const void* found = std::memchr(bytes + first, byte, end - first);
  return found == nullptr
             ? -1
             : children_[static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes)];
}

}  // namespace wl::grammar
