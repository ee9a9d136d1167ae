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

using Halves = std::pair<TokenId, TokenId>;

void find_splits(std::string_view text, const Vocabulary& vocabulary, std::vector<Halves>* out) {
  out->clear();
  if (text.size() > kMaxSplitBytes) return;
  for (size_t at = 0; at < text.size();) {
    at += char_at(text, at).num_bytes;
    if (at >= text.size()) break;
    const auto left = vocabulary.find(text.substr(0, at));
    if (!left) continue;
    if (const auto right = vocabulary.find(text.substr(at))) out->emplace_back(*left, *right);
  }
  std::ranges::sort(*out);
}

}  // namespace

MergeTable merges_from_scores(std::vector<ScoredToken> scored, const Vocabulary& vocabulary) {
  for (ScoredToken& token : scored) {
    if (std::isnan(token.score)) token.score = -std::numeric_limits<double>::infinity();
  }
  std::ranges::stable_sort(scored, std::greater{}, &ScoredToken::score);
  MergeTable merges(scored.size() * 2);
  std::vector<Halves> splits;
  for (const ScoredToken& token : scored) {
    find_splits(token.text, vocabulary, &splits);
    for (const auto& [left, right] : splits) merges.add(left, right, token.id);
  }
  return merges;
}

}  // namespace wl::tokenizer
