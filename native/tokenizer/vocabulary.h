#pragma once
// Token id <-> the bytes it stands for, of the tokens that encoding may produce. Control tokens are
// not in here, so no text can become one. Immutable once filled.
//
// Reading a file looks up millions of byte strings in tables far larger than the caches. Who has
// many to look up makes their keys first and prefetches, so that the misses overlap.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/huge_page_allocator.h"
#include "tokenizer/byte_hash.h"

namespace wl::tokenizer {

using TokenId = int32_t;

/// A bound on ids keeps a mangled file from asking for a huge table.
constexpr int64_t kMaxTokens = 1 << 22;

class Vocabulary {
 public:
  /// Bytes to look up. They stay the caller's.
  struct Key {
    explicit Key(std::string_view key_bytes) : bytes(key_bytes), hash(byte_hash(key_bytes)) {}
    std::string_view bytes;
    uint64_t hash;
  };

  /// @param num_tokens how many will be added, about: sizes the table
  explicit Vocabulary(size_t num_tokens = 0);

  /// False, and nothing added, when the bytes are in it already.
  bool add(std::string_view bytes, TokenId id) { return add(Key(bytes), id); }
  bool add(const Key& key, TokenId id);
  std::optional<TokenId> find(std::string_view bytes) const { return find(Key(bytes)); }
  std::optional<TokenId> find(const Key& key) const;
  void prefetch(const Key& key) const { __builtin_prefetch(&slots_[home_of(tag_of(key))]); }

 private:
  static constexpr TokenId kEmpty = -1;

  struct Slot {
    uint64_t bytes = 0;  // of a short string, as short_bytes(); else place and size in arena_
    uint32_t tag = 0;    // of the key
    TokenId id = kEmpty;
  };

  /// Hash and kind of size; the hash in it says the slot.
  static uint32_t tag_of(const Key& key);
  size_t home_of(uint32_t tag) const { return (tag >> kSizeBits) & (slots_.size() - 1); }
  /// The slot that holds the key, or the empty one where it belongs.
  size_t slot_of(const Key& key) const;
  std::string_view long_bytes(const Slot& slot) const {
    return std::string_view(arena_).substr(slot.bytes >> 32, static_cast<uint32_t>(slot.bytes));
  }
  void grow();

  static constexpr int kSizeBits = 4;
  std::string arena_;                                 // of the strings that are not short
  std::vector<Slot, HugePageAllocator<Slot>> slots_;  // a power of two, at most half full
  size_t num_tokens_ = 0;
};

}  // namespace wl::tokenizer
