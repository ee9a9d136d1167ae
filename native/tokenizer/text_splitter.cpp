#include "tokenizer/text_splitter.h"

#include <algorithm>
#include <utility>

namespace wl::tokenizer {

namespace {

void push(std::vector<Piece>* out, size_t start, size_t end, bool is_match) {
  if (start == end) return;
  out->push_back({static_cast<uint32_t>(start), static_cast<uint32_t>(end), is_match});
}

/// Appends the matches and gaps of one piece.
void find_matches(const Split& split, std::string_view text, const Piece& piece,
                  std::vector<Piece>* out) {
  // A pattern sees the piece alone: `(?!\S)` holds at its end.
  const std::string_view part = text.substr(0, piece.end);
  size_t gap_start = piece.start;
  DeadRuns dead;
  for (size_t at = piece.start; at < piece.end;) {
    const size_t end = split.pattern.match_end(part, at, &dead);
    if (end == at) {
      at += char_at(part, at).num_bytes;
      continue;
    }
    push(out, gap_start, at, split.is_inverted);
    push(out, at, end, !split.is_inverted);
    gap_start = at = end;
  }
  push(out, gap_start, piece.end, split.is_inverted);
}

/// The pieces from `first` on are of one text, in order, without gaps.
void apply_behavior(SplitBehavior behavior, size_t first, std::vector<Piece>* pieces) {
  if (behavior == SplitBehavior::kIsolated) return;
  const auto begin = pieces->begin() + static_cast<ptrdiff_t>(first);
  if (behavior == SplitBehavior::kRemoved) {
    pieces->erase(std::remove_if(begin, pieces->end(), [](const Piece& p) { return p.is_match; }),
                  pieces->end());
    return;
  }
  const auto joins = [behavior](const Piece& left, const Piece& right) {
    if (behavior == SplitBehavior::kContiguous) return left.is_match == right.is_match;
    if (behavior == SplitBehavior::kMergedWithPrevious) return !left.is_match && right.is_match;
    return left.is_match && !right.is_match;
  };
  size_t kept = first;
  Piece previous{};
  for (size_t i = first; i < pieces->size(); ++i) {
    const Piece piece = (*pieces)[i];
    if (i > first && joins(previous, piece)) {
      (*pieces)[kept - 1].end = piece.end;
    } else {
      (*pieces)[kept++] = piece;
    }
    previous = piece;  // as it was: whether the next one joins depends on its neighbour alone
  }
  pieces->resize(kept);
}

}  // namespace

void TextSplitter::split(std::string_view text, std::vector<Piece>* pieces) const {
  pieces->clear();
  push(pieces, 0, text.size(), false);
  std::vector<Piece> parts;
  for (const Split& split : splits_) {
    parts.clear();
    for (const Piece& piece : *pieces) {
      const size_t first = parts.size();
      find_matches(split, text, piece, &parts);
      apply_behavior(split.behavior, first, &parts);
    }
    std::swap(*pieces, parts);
  }
}

}  // namespace wl::tokenizer
