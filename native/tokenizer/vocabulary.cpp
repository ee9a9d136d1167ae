#include "tokenizer/vocabulary.h"

#include <bit>

#include "tokenizer/byte_hash.h"

namespace wl::tokenizer {

namespace {

constexpr size_t kMinSlots = 64;

}  // namespace

Vocabulary::Vocabulary(size_t num_tokens)
    : slots_(std::bit_ceil(std::max(num_tokens * 2, kMinSlots))) {
  entries_.reserve(num_tokens);
}

bool Vocabulary::add(std::string_view bytes, TokenId id) {
  if (find(bytes)) return false;
  if ((entries_.size() + 1) * 2 > slots_.size()) grow();
  entries_.push_back(
      {static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(bytes.size()), id});
  arena_ += bytes;
  const uint64_t hash = byte_hash(bytes);
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].entry_idx != 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(entries_.size())};
  return true;
}

std::optional<TokenId> Vocabulary::find(std::string_view bytes) const {
  const uint64_t hash = byte_hash(bytes);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (slot.entry_idx == 0) return std::nullopt;
    const Entry& entry = entries_[slot.entry_idx - 1];
    if (slot.tag == tag && bytes_of(entry) == bytes) return entry.id;
  }
}

void Vocabulary::grow() {
  slots_.assign(slots_.size() * 2, Slot{});
  for (size_t i = 0; i < entries_.size(); ++i) {
    const uint64_t hash = byte_hash(bytes_of(entries_[i]));
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at].entry_idx != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(i + 1)};
  }
}

}  // namespace wl::tokenizer
