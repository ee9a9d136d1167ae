#pragma once
// SentencePiece text has no pre-tokenizer: BPE sees it whole. But where no token of the vocabulary
// holds a character and U+2581 behind it, nothing can join across that place, so the text may be
// cut there without changing the tokens. The pieces are words then, which the piece cache knows.

#include <set>
#include <string_view>
#include <vector>

#include "tokenizer/text_splitter.h"

namespace wl::tokenizer {

class SpaceCutter {
 public:
  /// Learns which characters a token joins to a U+2581 behind them. Every token must be shown.
  void learn(std::string_view token);

  /// Replaces `pieces` by their parts.
  void cut(std::string_view text, std::vector<Piece>* pieces) const;

 private:
  std::set<uint32_t> joined_;  // code points
};

}  // namespace wl::tokenizer
