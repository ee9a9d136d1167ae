#include "tokenizer/merge_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "tokenizer/byte_hash.h"

namespace wl::tokenizer {

namespace {

constexpr size_t kMinSlots = 64;

}  // namespace

MergeTable::MergeTable(size_t num_merges)
    : slots_(std::bit_ceil(std::max(num_merges * 2, kMinSlots))) {}

/// The pair's slot, or the empty one where it belongs.
size_t MergeTable::slot_of(TokenId left, TokenId right) const {
  const uint64_t pair = uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  size_t at = mix_hash(0, pair) & (slots_.size() - 1);
  while (slots_[at].left != -1 && (slots_[at].left != left || slots_[at].right != right)) {
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

void MergeTable::add(TokenId left, TokenId right, TokenId joined) {
  if ((num_pairs_ + 1) * 2 > slots_.size()) grow();
  Slot& slot = slots_[slot_of(left, right)];
  if (slot.left == -1) ++num_pairs_;
  slot = {left, right, {next_rank_++, joined}};
}

Merge MergeTable::find(TokenId left, TokenId right) const {
  return slots_[slot_of(left, right)].merge;
}

void MergeTable::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  for (const Slot& slot : old) {
    if (slot.left != -1) slots_[slot_of(slot.left, slot.right)] = slot;
  }
}

}  // namespace wl::tokenizer
