#pragma once
// SentencePiece has no list of merges: the adjacent pair whose joined token scores highest goes
// first. As a ranked list that is every split of every normal token into two tokens, by score
// descending, ties in vocabulary order.

#include <string_view>
#include <vector>

#include "tokenizer/merge_table.h"
#include "tokenizer/vocabulary.h"

namespace wl::tokenizer {

struct ScoredToken {
  TokenId id;
  std::string_view text;
  double score;
};

/// `scored` in order of ids; a score that is no number counts as the lowest.
MergeTable merges_from_scores(std::vector<ScoredToken> scored, const Vocabulary& vocabulary);

}  // namespace wl::tokenizer
