#pragma once
// The grammar of one request's output, and where the output stands in it. Adds to the matcher what
// a grammar does not know: the stop tokens, which end the output where its text may end. A value:
// copies are independent.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "grammar/grammar.h"
#include "sampling/token_mask.h"

namespace wl::engine {

class OutputGrammar {
 public:
  /// stop_token_ids: those outside of [0, vocab) are never sampled and do not count.
  OutputGrammar(std::shared_ptr<const grammar::CompiledGrammar> grammar,
                const std::vector<int32_t>& stop_token_ids, int vocab);

  /// Takes an output token that is no stop token; false when the grammar has no such continuation.
  bool accept(int32_t token) { return matcher_.accept(token); }
  /// The text is complete, can not go on, and there is no stop token to say so.
  bool is_finished() const { return is_at_end() && stop_token_ids_.empty(); }
  /// The token that must come next, when there is only one: the matcher's, or the first stop token
  /// where the text can not go on.
  std::optional<int32_t> forced_token() const;
  /// Allows the tokens that may come next; only forced_token() when there is one. None: the
  /// vocabulary cannot spell what the grammar wants.
  void fill_mask(sampling::TokenMask& mask) const;

 private:
  bool is_at_end() const;

  grammar::Matcher matcher_;
  std::vector<int32_t> stop_token_ids_;
};

}  // namespace wl::engine
