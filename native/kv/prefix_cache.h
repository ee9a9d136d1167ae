#pragma once
// The prefix index: block hash -> the block whose KV it names. A hash enters after that KV was
// written and leaves when the block is reused. Owned by the engine thread.

#include <optional>
#include <unordered_map>

#include "kv/block_hash.h"
#include "kv/block_pool.h"

namespace wl::kv {

class PrefixCache {
 public:
  int size() const { return static_cast<int>(blocks_.size()); }
  std::optional<BlockId> find(const BlockHash& hash) const;
  /// False when the hash already names another block: the newcomer stays private.
  bool insert(const BlockHash& hash, BlockId id);
  void erase(const BlockHash& hash);

  /// Throws InternalError unless index and pool name each other: index[h] = b <=> b.hash = h.
  void check_integrity(const BlockPool& pool) const;

 private:
  std::unordered_map<BlockHash, BlockId, BlockHashHasher> blocks_;
};

}  // namespace wl::kv
