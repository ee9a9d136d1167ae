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

inline uint64_t byte_hash(std::string_view bytes) {
  uint64_t hash = mix_hash(0, bytes.size());
  const char* p = bytes.data();
  size_t left = bytes.size();
  uint64_t chunk = 0;
  for (; left >= sizeof chunk; left -= sizeof chunk, p += sizeof chunk) {
    std::memcpy(&chunk, p, sizeof chunk);
    hash = mix_hash(hash, chunk);
  }
  chunk = 0;
  if (left > 0) std::memcpy(&chunk, p, left);
  return mix_hash(hash, chunk);
}

}  // namespace wl::tokenizer
