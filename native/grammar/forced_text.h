#pragma once
// The text that a grammar leaves no choice about, and the tokens that the tokenizer has for it.

#include <optional>
#include <string>

#include "grammar/frontier.h"
#include "grammar/program.h"
#include "grammar/vocabulary_index.h"

namespace wl::grammar {

struct ForcedText {
  std::string bytes;
  /// Behind them is the end or a special token: no free text can merge with the last token.
  bool is_closed = false;
};

/// From where the frontier stands; long ones are cut.
ForcedText forced_text(const Program& program, const Frontier& frontier);

/// See Matcher::forced_token().
std::optional<TokenId> forced_token(const Program& program, const VocabularyIndex& vocabulary,
                                    const Frontier& frontier);

}  // namespace wl::grammar
