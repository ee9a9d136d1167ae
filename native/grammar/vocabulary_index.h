#pragma once
// What all grammars over one tokenizer share: the trie of its tokens, and the automata with the
// token sets that were found for them. Thread-safe.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/automaton.h"
#include "grammar/expr.h"
#include "grammar/token_trie.h"
#include "tokenizer/tokenizer.h"

namespace wl::grammar {

class VocabularyIndex {
 public:
  explicit VocabularyIndex(std::shared_ptr<const tokenizer::Tokenizer> tokenizer);

  const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }
  const TokenTrie& trie() const { return trie_; }
  size_t vocab() const { return tokenizer_->num_tokens(); }
  /// What the token adds to the text; empty for control tokens.
  std::string_view bytes(TokenId token) const;

  /// The longest special token that `text` begins with, or null.
  const tokenizer::SpecialToken* special_token_at(std::string_view text) const;

  /// One instance while somebody holds it, found by the identity of the automaton.
  std::shared_ptr<Automaton> automaton(const std::shared_ptr<const ByteDfa>& dfa);
  /// The automaton of a free text (expr.h), made once.
  std::shared_ptr<const ByteDfa> text_dfa(const Text& text);

 private:
  const std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  const TokenTrie trie_;
  std::mutex mutex_;
  std::unordered_map<const ByteDfa*, std::weak_ptr<Automaton>> automata_;
  std::map<std::vector<std::string>, std::shared_ptr<const ByteDfa>> text_dfas_;
};

}  // namespace wl::grammar
