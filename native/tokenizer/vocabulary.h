#pragma once
// Token id <-> the bytes it stands for, of the tokens that encoding may produce. Control tokens are
// not in here, so no text can become one. Immutable once filled.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wl::tokenizer {

using TokenId = int32_t;

/// A bound on ids keeps a mangled file from asking for a huge table.
constexpr int64_t kMaxTokens = 1 << 22;

class Vocabulary {
 public:
  /// @param num_tokens how many will be added, about: sizes the table
  explicit Vocabulary(size_t num_tokens = 0);

  /// False, and nothing added, when the bytes are in it already.
  bool add(std::string_view bytes, TokenId id);
  std::optional<TokenId> find(std::string_view bytes) const;
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint32_t start;
    uint32_t num_bytes;
    TokenId id;
  };
  struct Slot {
    uint32_t tag = 0;        // upper half of the hash
    uint32_t entry_idx = 0;  // plus 1; 0 is an empty slot
  };
  std::string_view bytes_of(const Entry& entry) const {
    return std::string_view(arena_).substr(entry.start, entry.num_bytes);
  }
  void grow();

  std::string arena_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace wl::tokenizer
