#include "kv/block_hash.h"

#include <vector>

namespace wl::kv {
namespace {

void append_little_endian(std::vector<uint8_t>& out, uint32_t value, int num_bytes) {
  for (int i = 0; i < num_bytes; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

}  // namespace

BlockHash root_hash(std::string_view fingerprint) {
  static constexpr char kPrefix[] = "kv-root-v1";  // the terminating zero is part of the encoding
  Sha256 sha;
  sha.update(kPrefix, sizeof kPrefix);
  sha.update(fingerprint.data(), fingerprint.size());
  return sha.finish();
}

BlockHash block_hash(const BlockHash& parent, std::span<const int32_t> tokens,
                     std::span<const std::string> extra_keys) {
  std::vector<uint8_t> bytes(parent.begin(), parent.end());
  bytes.reserve(bytes.size() + 6 + 4 * tokens.size());
  append_little_endian(bytes, static_cast<uint32_t>(tokens.size()), 4);
  for (const int32_t token : tokens) append_little_endian(bytes, static_cast<uint32_t>(token), 4);
  append_little_endian(bytes, static_cast<uint32_t>(extra_keys.size()), 2);
  for (const std::string& key : extra_keys) {
    append_little_endian(bytes, static_cast<uint32_t>(key.size()), 2);
    bytes.insert(bytes.end(), key.begin(), key.end());
  }
  Sha256 sha;
  sha.update(bytes.data(), bytes.size());
  return sha.finish();
}

uint64_t block_event_id(const BlockHash& hash) {
  uint64_t id = 0;
  for (int i = 7; i >= 0; --i) id = (id << 8) | hash[static_cast<size_t>(i)];
  return id;
}

}  // namespace wl::kv
