#include "tokenizer/merge_table.h"

#include <algorithm>
#include <bit>

#include "tokenizer/byte_hash.h"

namespace wl::tokenizer {

namespace {

constexpr size_t kMinSlots = 64;
constexpr size_t kLookahead = 16;  // additions between a prefetch and its use

}  // namespace

MergeTable::MergeTable(const std::vector<TokenPair>& pairs)
    : slots_(std::bit_ceil(std::max(pairs.size() * 2, kMinSlots))) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i + kLookahead < pairs.size()) {
      const TokenPair& later = pairs[i + kLookahead];
      __builtin_prefetch(&slots_[home_of(later.left, later.right)]);
    }
    const auto& [left, right, joined] = pairs[i];
    slots_[slot_of(left, right)] = {left, right, {static_cast<uint32_t>(i), joined}};
  }
}

size_t MergeTable::home_of(TokenId left, TokenId right) const {
  const uint64_t pair = uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  return mix_hash(0, pair) & (slots_.size() - 1);
}

/// The pair's slot, or the empty one where it belongs.
size_t MergeTable::slot_of(TokenId left, TokenId right) const {
  size_t at = home_of(left, right);
  while (slots_[at].left != -1 && (slots_[at].left != left || slots_[at].right != right)) {
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

Merge MergeTable::find(TokenId left, TokenId right) const {
  return slots_[slot_of(left, right)].merge;
}

}  // namespace wl::tokenizer
