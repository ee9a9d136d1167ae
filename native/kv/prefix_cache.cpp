#include "kv/prefix_cache.h"

#include "base/result.h"

namespace wl::kv {

std::optional<BlockId> PrefixCache::find(const BlockHash& hash) const {
  const auto it = blocks_.find(hash);
  if (it == blocks_.end()) return std::nullopt;
  return it->second;
}

bool PrefixCache::insert(const BlockHash& hash, BlockId id) {
  return blocks_.try_emplace(hash, id).second;
}

void PrefixCache::erase(const BlockHash& hash) { blocks_.erase(hash); }

void PrefixCache::check_integrity(const BlockPool& pool) const {
  for (const auto& [hash, id] : blocks_) {
    if (pool.hash(id) != hash) throw InternalError("prefix index: a block does not have its hash");
  }
  int num_hashed = 0;
  for (BlockId id = 0; id < pool.num_blocks(); ++id) num_hashed += pool.hash(id).has_value();
  if (num_hashed != size()) throw InternalError("prefix index: a hashed block is not in the index");
}

}  // namespace wl::kv
