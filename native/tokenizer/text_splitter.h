#pragma once
// Pre-tokenization: cuts text into the pieces inside which tokens are formed. A chain of splits,
// each applied to the pieces of the one before.

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/pattern.h"

namespace wl::tokenizer {

/// What becomes of a pattern's matches and of the gaps between them. The names of tokenizer.json.
enum class SplitBehavior {
  kIsolated,            // every match and every gap is a piece
  kRemoved,             // matches are dropped
  kContiguous,          // matches in a row are one piece
  kMergedWithPrevious,  // a match belongs to the gap in front
  kMergedWithNext,      // a match belongs to the gap behind
};

struct Split {
  Pattern pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool is_inverted = false;  // gaps count as matches and matches as gaps
};

/// Bytes [start, end) of the text.
struct Piece {
  uint32_t start;
  uint32_t end;
  bool is_match = false;
};

class TextSplitter {
 public:
  TextSplitter() = default;
  explicit TextSplitter(std::vector<Split> splits) : splits_(std::move(splits)) {}

  /// Replaces `pieces` by those of `text`; none is empty. `text` has less than 4 GiB.
  void split(std::string_view text, std::vector<Piece>* pieces) const;

 private:
  std::vector<Split> splits_;
};

}  // namespace wl::tokenizer
