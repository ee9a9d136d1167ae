#pragma once
// Hash of short byte strings for the tokenizer's tables. Not for untrusted keys in unbounded
// tables: the vocabulary is a file's, and the piece cache overwrites instead of chaining.

#include <cstdint>
#include <cstring>
#include <string_view>

namespace wl::tokenizer {

inline uint64_t mix_hash(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;  // 2^64 / golden ratio
  return hash ^ (hash >> 32);
}

template <class Word>
uint64_t load_word(const char* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

constexpr size_t kMaxShortBytes = 8;

/// The first `kMaxShortBytes` as one number, different for different strings of one size up to
/// that. Loads overlap instead of looping: a copy of variable size costs more than the hash.
inline uint64_t short_bytes(std::string_view bytes) {
  const char* p = bytes.data();
  const size_t size = bytes.size();
  if (size >= 8) return load_word<uint64_t>(p);
  if (size >= 4) return load_word<uint32_t>(p) << 32 | load_word<uint32_t>(p + size - 4);
  if (size >= 2) return load_word<uint16_t>(p) << 16 | load_word<uint16_t>(p + size - 2);
  return size == 1 ? load_word<uint8_t>(p) : 0;
}

inline uint64_t byte_hash(std::string_view bytes) {
  uint64_t hash = mix_hash(0, bytes.size());
  for (; bytes.size() > kMaxShortBytes; bytes.remove_prefix(kMaxShortBytes)) {
    hash = mix_hash(hash, load_word<uint64_t>(bytes.data()));
  }
  return mix_hash(hash, short_bytes(bytes));
}

}  // namespace wl::tokenizer
