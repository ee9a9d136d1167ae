#pragma once
// The tokens that a frontier allows: each element is followed down the token trie on its own, since
// a token is allowed when any of them takes it.

#include <cstdint>
#include <span>
#include <unordered_set>

#include "grammar/frontier.h"
#include "grammar/program.h"
#include "grammar/token_trie.h"

namespace wl::grammar {

class MaskWalk {
 public:
  /// @param mask see grammar.h; bits are only set
  MaskWalk(const Program& program, const TokenTrie& trie, std::span<uint32_t> mask)
      : program_(program), trie_(trie), mask_(mask) {}

  /// False: it takes too long and was given up, with some of the bits.
  bool add(const Frontier& frontier);

 private:
  struct Place {
    int32_t trie_node;
    Element element;
    bool operator==(const Place&) const = default;
  };
  struct PlaceHash {
    size_t operator()(const Place& place) const;
  };

  bool is_new(const Element& element, int32_t trie_node);
  void walk(const Element& element, int32_t trie_node);
  void walk_literal(const Element& element, int32_t trie_node);
  void walk_match(const Element& element, int32_t trie_node);
  void set_tokens(int32_t trie_node);

  const Program& program_;
  const TokenTrie& trie_;
  const std::span<uint32_t> mask_;
  size_t num_walks_ = 0;
  std::unordered_set<Place, PlaceHash> visited_;
};

}  // namespace wl::grammar
