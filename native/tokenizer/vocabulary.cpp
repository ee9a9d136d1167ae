#include "tokenizer/vocabulary.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace wl::tokenizer {

namespace {

constexpr size_t kMinSlots = 64;
constexpr int kHashShift = 36;  // leaves 28 bits: more than kMaxTokens has slots

bool is_short(std::string_view bytes) { return bytes.size() <= kMaxShortBytes; }

}  // namespace

Vocabulary::Vocabulary(size_t num_tokens)
    : slots_(std::bit_ceil(std::max(num_tokens * 2, kMinSlots))) {}

bool Vocabulary::add(const Key& key, TokenId id) {
  if ((num_tokens_ + 1) * 2 > slots_.size()) grow();
  Slot& slot = slots_[slot_of(key)];
  if (slot.id != kEmpty) return false;
  slot = {short_bytes(key.bytes), tag_of(key), id};
  if (!is_short(key.bytes)) {
    slot.bytes = uint64_t{arena_.size()} << 32 | key.bytes.size();
    arena_ += key.bytes;
  }
  ++num_tokens_;
  return true;
}

std::optional<TokenId> Vocabulary::find(const Key& key) const {
  const TokenId id = slots_[slot_of(key)].id;
  return id != kEmpty ? std::optional(id) : std::nullopt;
}

uint32_t Vocabulary::tag_of(const Key& key) {
  const auto size_kind = static_cast<uint32_t>(std::min(key.bytes.size(), kMaxShortBytes + 1));
  return static_cast<uint32_t>(key.hash >> kHashShift) << kSizeBits | size_kind;
}

size_t Vocabulary::slot_of(const Key& key) const {
  const uint32_t tag = tag_of(key);
  const bool is_in_slot = is_short(key.bytes);
  const uint64_t bytes = is_in_slot ? short_bytes(key.bytes) : 0;
  size_t at = home_of(tag);
  for (;; at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (slot.id == kEmpty) return at;
    if (slot.tag != tag) continue;
    if (is_in_slot ? slot.bytes == bytes : long_bytes(slot) == key.bytes) return at;
  }
}

void Vocabulary::grow() {
  const auto old = std::exchange(slots_, decltype(slots_)(slots_.size() * 2));
  for (const Slot& slot : old) {
    if (slot.id == kEmpty) continue;
    size_t at = home_of(slot.tag);
    while (slots_[at].id != kEmpty) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

}  // namespace wl::tokenizer
