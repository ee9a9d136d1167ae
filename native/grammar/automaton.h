#pragma once
// A byte automaton over a vocabulary: which tokens it takes from each of its states, found by one
// walk of the token trie and kept. The walk from "inside a JSON string" touches most of the
// vocabulary, so this cache is what makes masks cheap; it is shared by all grammars that use the
// automaton. Thread-safe.

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "grammar/byte_dfa.h"
#include "grammar/token_trie.h"

namespace wl::grammar {

/// What an automaton takes of the tokens below one node of the trie, from one of its states. Units
/// are counted from there.
class TokenScan {
 public:
  /// Where the automaton accepts in the middle of tokens: what follows it goes on at this node.
  struct Exit {
    int32_t trie_node = 0;
    uint32_t num_units = 0;
    uint32_t room = 0;  // units that a maximum must leave on the way there
  };

  /// @param units_left as Automaton::units_left(), by state
  TokenScan(const ByteDfa& dfa, std::span<const uint32_t> units_left, int32_t state,
            const TokenTrie& trie, int32_t trie_node, size_t vocab);

  /// Adds to `mask` (grammar.h) the tokens that are possible after `num_units` units.
  void add_tokens(std::span<uint32_t> mask, uint32_t num_units, UnitBounds bounds) const;
  const std::vector<Exit>& exits() const { return exits_; }
  size_t num_bytes() const;

 private:
  struct CountedToken {
    TokenId token = 0;
    uint32_t num_units = 0;
    uint32_t room = 0;  // as of an Exit
  };

  void add_open_tokens(std::span<uint32_t> mask, uint32_t num_left) const;
  void sort_open(std::vector<CountedToken> open, size_t vocab);

  std::vector<TokenId> open_;          // end before the units do; ascending by room
  std::vector<uint32_t> open_within_;  // [u]: how many of them need room for at most u units
  std::vector<uint32_t> open_mask_;    // all of them as a mask, when they are many
  std::vector<CountedToken> closing_;  // pass the end of the units
  std::vector<Exit> exits_;
};

class Automaton {
 public:
  Automaton(std::shared_ptr<const ByteDfa> dfa, const TokenTrie& trie, size_t vocab);

  const ByteDfa& dfa() const { return *dfa_; }
  /// Units that must still begin before the text can end.
  uint32_t units_left(int32_t state) const { return units_left_[static_cast<size_t>(state)]; }
  std::shared_ptr<const TokenScan> scan(int32_t state, int32_t trie_node);

 private:
  const std::shared_ptr<const ByteDfa> dfa_;
  const std::vector<uint32_t> units_left_;
  const TokenTrie& trie_;
  const size_t vocab_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<const TokenScan>> scans_;
  size_t num_bytes_ = 0;
};

/// The edge of `state` for a byte, or null.
const ByteEdge* find_edge(const ByteState& state, uint8_t byte);

}  // namespace wl::grammar
