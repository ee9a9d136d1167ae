#pragma once
// Which two adjacent tokens join to which token, and how early: the merges of a BPE vocabulary.

#include <cstdint>
#include <vector>

#include "tokenizer/vocabulary.h"

namespace wl::tokenizer {

constexpr uint32_t kNoRank = 0xffffffff;

struct Merge {
  uint32_t rank = kNoRank;  // lower goes first; kNoRank: the pair does not join
  TokenId joined = 0;
};

class MergeTable {
 public:
  /// @param num_merges how many will be added, about: sizes the table
  explicit MergeTable(size_t num_merges = 0);

  /// Ranked behind everything added so far; a pair that is in it already moves there.
  void add(TokenId left, TokenId right, TokenId joined);
  Merge find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    TokenId left = -1;  // an empty slot
    TokenId right = -1;
    Merge merge;
  };
  size_t slot_of(TokenId left, TokenId right) const;
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t num_pairs_ = 0;
  uint32_t next_rank_ = 0;
};

}  // namespace wl::tokenizer
