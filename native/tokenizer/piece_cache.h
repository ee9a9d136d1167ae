#pragma once
// Tokens of recent short pieces: text repeats its words, and a look-up is far cheaper than merging.
// One slot a hash, the newer piece wins.

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/byte_hash.h"
#include "tokenizer/vocabulary.h"

namespace wl::tokenizer {

class PieceCache {
 public:
  /// Empty when the piece is not in it; every cached piece has tokens.
  std::span<const TokenId> find(std::string_view piece) const {
    if (piece.size() > kMaxBytes) return {};
    const Entry& entry = entries_[byte_hash(piece) % kNumEntries];
    const bool is_hit = entry.num_bytes == piece.size() &&
                        std::memcmp(entry.bytes.data(), piece.data(), piece.size()) == 0;
    return {entry.ids.data(), is_hit ? size_t{entry.num_ids} : 0};
  }

  void put(std::string_view piece, std::span<const TokenId> ids) {
    if (piece.size() > kMaxBytes || ids.size() > kMaxIds) return;
    Entry& entry = entries_[byte_hash(piece) % kNumEntries];
    entry.num_bytes = static_cast<uint8_t>(piece.size());
    entry.num_ids = static_cast<uint8_t>(ids.size());
    std::memcpy(entry.bytes.data(), piece.data(), piece.size());
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
  }

 private:
  static constexpr size_t kNumEntries = 1 << 15;  // 2 MiB, about a second-level cache
  static constexpr size_t kMaxBytes = 30;         // longer pieces are rare; fills a cache line
  static constexpr size_t kMaxIds = 8;

  struct Entry {
    uint8_t num_bytes = 0;
    uint8_t num_ids = 0;
    std::array<char, kMaxBytes> bytes{};
    std::array<TokenId, kMaxIds> ids{};
  };
  static_assert(sizeof(Entry) == 64);

  std::vector<Entry> entries_ = std::vector<Entry>(kNumEntries);
};

}  // namespace wl::tokenizer
