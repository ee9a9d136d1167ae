#pragma once
// The engine's view of constrained decoding: a compiled grammar, and a matcher that says which
// tokens may come next. A grammar and a vocabulary index are immutable to their users and shared by
// all threads (their caches have locks of their own); a matcher belongs to one request.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/expr.h"
#include "tokenizer/tokenizer.h"

namespace wl::grammar {

using tokenizer::TokenId;
class Program;
class VocabularyIndex;
struct MatcherState;

/// The trie of a tokenizer's tokens and the caches that all grammars over it share. Costs some tens
/// of milliseconds once; keep it as long as the tokenizer.
std::shared_ptr<VocabularyIndex> index_vocabulary(
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer);

class CompiledGrammar {
 public:
  ~CompiledGrammar();
  /// Errors: ERR_GRAMMAR: left recursion, nothing matches, too large.
  static Result<std::shared_ptr<const CompiledGrammar>> compile(
      const Grammar& grammar, std::shared_ptr<VocabularyIndex> vocabulary);

  /// Of the vocabulary.
  size_t num_tokens() const;

 private:
  friend class Matcher;
  CompiledGrammar(std::unique_ptr<const Program> program,
                  std::shared_ptr<VocabularyIndex> vocabulary);
  std::unique_ptr<const Program> program_;
  std::shared_ptr<VocabularyIndex> vocabulary_;
};

/// Where a text stands in its grammar. A value: copies are cheap and independent, which is how
/// drafts are tried and taken back.
class Matcher {
 public:
  explicit Matcher(std::shared_ptr<const CompiledGrammar> grammar);

  /// Takes the token; false when the grammar has no such continuation: then nothing changed.
  bool accept(TokenId token);
  /// The text may end here.
  bool is_complete() const;
  /// False: nothing can follow.
  bool can_continue() const;
  /// Sets the bit of every token that may come next and clears the others; bit t of the mask is
  /// bit t % 32 of word t / 32. Ends of generation are not tokens of the grammar: the caller adds
  /// them when is_complete(). No bit: the vocabulary cannot spell what may come next, or it took
  /// too long to find out.
  void fill_mask(std::span<uint32_t> words) const;
  /// The only token that the tokenisation rule allows here, when the grammar leaves no choice of
  /// text: the tokenizer's own first token of the forced bytes. The last token before a choice is
  /// never forced, since the free text could merge with it. fill_mask() allows only this token
  /// then.
  std::optional<TokenId> forced_token() const;

 private:
  std::shared_ptr<const CompiledGrammar> grammar_;
  std::shared_ptr<const MatcherState> state_;
};

}  // namespace wl::grammar
