#include "tokenizer/score_merges.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/utf8.h"

namespace wl::tokenizer {

namespace {

/// A token longer than this has no splits: their number grows with the square of it, and the
/// longest of real vocabularies have 96 bytes.
constexpr size_t kMaxSplitBytes = 1024;

constexpr size_t kTokensAtOnce = 16;  // about 150 look-ups, prefetched together

/// A token cut at one place.
struct Split {
  TokenId joined;
  Vocabulary::Key left, right;
};

void list_splits(const ScoredToken& token, std::vector<Split>* out) {
  const std::string_view text = token.text;
  if (text.size() > kMaxSplitBytes) return;
  for (size_t at = 0; at < text.size();) {
    at += char_at(text, at).num_bytes;
    if (at >= text.size()) break;
    out->push_back(
        {token.id, Vocabulary::Key(text.substr(0, at)), Vocabulary::Key(text.substr(at))});
  }
}

/// Adds the splits into two tokens, those of one token in the order of their halves.
void add_pairs(const std::vector<Split>& splits, const Vocabulary& vocabulary,
               std::vector<TokenPair>* out) {
  for (size_t i = 0; i < splits.size();) {
    const TokenId joined = splits[i].joined;
    const auto first = static_cast<ptrdiff_t>(out->size());
    for (; i < splits.size() && splits[i].joined == joined; ++i) {
      const auto left = vocabulary.find(splits[i].left);
      if (!left) continue;
      const auto right = vocabulary.find(splits[i].right);
      if (right) out->push_back({*left, *right, joined});
    }
    std::sort(out->begin() + first, out->end(), [](const TokenPair& a, const TokenPair& b) {
      return std::pair(a.left, a.right) < std::pair(b.left, b.right);
    });
  }
}

}  // namespace

MergeTable merges_from_scores(std::vector<ScoredToken> scored, const Vocabulary& vocabulary) {
  for (ScoredToken& token : scored) {
    if (std::isnan(token.score)) token.score = -std::numeric_limits<double>::infinity();
  }
  // Vocabularies mostly are in that order.
  if (!std::ranges::is_sorted(scored, std::greater{}, &ScoredToken::score)) {
    std::ranges::stable_sort(scored, std::greater{}, &ScoredToken::score);
  }
  std::vector<TokenPair> pairs;
  pairs.reserve(scored.size() * 2);
  std::vector<Split> splits;
  for (size_t first = 0; first < scored.size(); first += kTokensAtOnce) {
    const size_t end = std::min(first + kTokensAtOnce, scored.size());
    splits.clear();
    for (size_t i = first; i < end; ++i) list_splits(scored[i], &splits);
    for (const Split& split : splits) {
      vocabulary.prefetch(split.left);
      vocabulary.prefetch(split.right);
    }
    add_pairs(splits, vocabulary, &pairs);
  }
  return MergeTable(pairs);
}

}  // namespace wl::tokenizer
