#pragma once
// Content address of a full block: a SHA-256 chain, so that equal hashes mean equal tokens from
// position 0 on, under the same model and tenant. The encoding is fixed, so other languages and
// other boxes compute the same values:
//   root = SHA256("kv-root-v1\0" + fingerprint)
//   hash = SHA256(parent[32] | u32le n | n x u32le token | u16le m | m x (u16le len | utf8))

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace wl::kv {

using BlockHash = Sha256Digest;

/// For hash maps: the digest is uniform already, its first 8 bytes will do.
struct BlockHashHasher {
  size_t operator()(const BlockHash& hash) const {
    size_t value;
    std::memcpy(&value, hash.data(), sizeof value);
    return value;
  }
};

/// Parent of every first block. The fingerprint names all that changes KV: model, revision,
/// quantization, rope settings, KV type.
BlockHash root_hash(std::string_view fingerprint);

/// Hash of the block that follows `parent`. extra_keys: each at most 65535 bytes; the tenant salt
/// goes into block 0 only, the chain carries it on.
BlockHash block_hash(const BlockHash& parent, std::span<const int32_t> tokens,
                     std::span<const std::string> extra_keys = {});

/// Short id for routers and events: the first 8 bytes, little-endian.
uint64_t block_event_id(const BlockHash& hash);

}  // namespace wl::kv
