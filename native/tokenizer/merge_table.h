#pragma once
// Which two adjacent tokens join to which token, and how early: the merges of a BPE vocabulary.

#include <cstdint>
#include <vector>

#include "base/huge_page_allocator.h"
#include "tokenizer/vocabulary.h"

namespace wl::tokenizer {

constexpr uint32_t kNoRank = 0xffffffff;

struct Merge {
  uint32_t rank = kNoRank;  // lower goes first; kNoRank: the pair does not join
  TokenId joined = 0;
};

/// Two adjacent tokens and what they join to.
struct TokenPair {
  TokenId left;
  TokenId right;
  TokenId joined;
};

class MergeTable {
 public:
  MergeTable() : MergeTable(std::vector<TokenPair>()) {}
  /// @param pairs lowest rank first; of one that is listed twice the last counts
  explicit MergeTable(const std::vector<TokenPair>& pairs);

  Merge find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    TokenId left = -1;  // an empty slot
    TokenId right = -1;
    Merge merge;
  };
  size_t home_of(TokenId left, TokenId right) const;
  size_t slot_of(TokenId left, TokenId right) const;

  std::vector<Slot, HugePageAllocator<Slot>> slots_;  // a power of two, at most half full
};

}  // namespace wl::tokenizer
