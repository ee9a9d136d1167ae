#include "kv/kv_cache_manager.h"

#include <algorithm>

#include "base/result.h"

namespace wl::kv {

KvCacheManager::KvCacheManager(const KvCacheConfig& config)
    : config_(config), root_(root_hash(config.fingerprint)), pool_(config.num_blocks) {}

void KvCacheManager::extend_hashes(SequenceBlocks& blocks, std::span<const int32_t> tokens) {
  if (!config_.enable_prefix_cache) return;
  const size_t block_size = static_cast<size_t>(config_.block_size);
  while ((blocks.hashes.size() + 1) * block_size <= tokens.size()) {
    const size_t block_idx = blocks.hashes.size();
    std::vector<std::string> extra_keys;
    if (block_idx == 0 && !blocks.tenant_salt.empty()) {
      extra_keys.push_back("salt:" + blocks.tenant_salt);
    }
    const BlockHash& parent = block_idx == 0 ? root_ : blocks.hashes.back();
    blocks.hashes.push_back(
        block_hash(parent, tokens.subspan(block_idx * block_size, block_size), extra_keys));
    num_hashed_tokens_ += block_size;
  }
}

PrefixHit KvCacheManager::lookup(const SequenceBlocks& blocks, int num_tokens,
                                 int num_computed) const {
  PrefixHit hit;
  const size_t max_blocks =
      std::min(blocks.hashes.size(), static_cast<size_t>((num_tokens - 1) / config_.block_size));
  // A longer hit holds the first block that the sequence lacks: one look-up settles most turns.
  const auto first_new = static_cast<size_t>(num_computed / config_.block_size);
  if (first_new >= max_blocks || !index_.find(blocks.hashes[first_new])) return hit;
  while (hit.blocks.size() < max_blocks) {
    const std::optional<BlockId> id = index_.find(blocks.hashes[hit.blocks.size()]);
    if (!id) break;
    hit.blocks.push_back(*id);
  }
  hit.num_tokens = static_cast<int>(hit.blocks.size()) * config_.block_size;
  return hit;
}

void KvCacheManager::attach(SequenceBlocks& blocks, const PrefixHit& hit) {
  if (!blocks.table.empty()) throw InternalError("kv: attach() to a sequence that has blocks");
  for (const BlockId id : hit.blocks) pool_.add_ref(id);
  blocks.table = hit.blocks;
  blocks.num_committed = static_cast<int>(hit.blocks.size());
}

std::optional<SlotAllocation> KvCacheManager::allocate_slots(SequenceBlocks& blocks,
                                                             int num_computed, int num_tokens,
                                                             int num_spare) {
  const size_t write_idx = static_cast<size_t>(num_computed / config_.block_size);
  const size_t num_needed = static_cast<size_t>(blocks_for(num_tokens));
  const bool is_shared = write_idx < blocks.table.size() && pool_.ref(blocks.table[write_idx]) > 1;
  const size_t num_grown = num_needed > blocks.table.size() ? num_needed - blocks.table.size() : 0;
  const int num_new = static_cast<int>(num_grown) + (is_shared ? 1 : 0);
  if (num_new == 0) return SlotAllocation{};
  if (pool_.num_free() < num_new + num_spare) return std::nullopt;

  SlotAllocation allocation;
  if (is_shared) {
    BlockId& entry = blocks.table[write_idx];
    const BlockId copy = allocate_block();
    allocation.copy = BlockCopy{entry, copy, num_computed % config_.block_size};
    pool_.release(entry);
    entry = copy;
  }
  while (blocks.table.size() < num_needed) blocks.table.push_back(allocate_block());
  return allocation;
}

void KvCacheManager::commit(SequenceBlocks& blocks, std::span<const int32_t> tokens,
                            int num_computed) {
  if (!config_.enable_prefix_cache) return;
  extend_hashes(blocks, tokens);
  const int num_full = num_computed / config_.block_size;
  for (; blocks.num_committed < num_full; ++blocks.num_committed) {
    const size_t block_idx = static_cast<size_t>(blocks.num_committed);
    const BlockHash& hash = blocks.hashes[block_idx];
    const BlockId id = blocks.table[block_idx];
    // A second block with the same content stays private: its sequence already reads from it.
    if (index_.insert(hash, id)) pool_.set_hash(id, hash);
  }
}

SequenceBlocks KvCacheManager::fork(const SequenceBlocks& blocks) {
  for (const BlockId id : blocks.table) pool_.add_ref(id);
  return blocks;
}

void KvCacheManager::trim(SequenceBlocks& blocks, int num_tokens) {
  const size_t num_kept = static_cast<size_t>(blocks_for(num_tokens));
  // From the tail: the deeper a block, the fewer later prompts can share it, so it is reused first.
  while (blocks.table.size() > num_kept) {
    pool_.release(blocks.table.back());
    blocks.table.pop_back();
  }
  blocks.num_committed = std::min(blocks.num_committed, static_cast<int>(num_kept));
}

void KvCacheManager::discard(SequenceBlocks& blocks) {
  for (const BlockId id : blocks.table) remove_from_index(id);
  free(blocks);
}

BlockId KvCacheManager::allocate_block() {
  remove_from_index(pool_.next_free());
  return pool_.allocate();
}

void KvCacheManager::remove_from_index(BlockId id) {
  const std::optional<BlockHash> hash = pool_.hash(id);
  if (!hash) return;
  index_.erase(*hash);
  pool_.clear_hash(id);
}

void KvCacheManager::check_integrity(std::span<const SequenceBlocks* const> tables) const {
  pool_.check_integrity();
  index_.check_integrity(pool_);
  std::vector<int> num_holders(static_cast<size_t>(pool_.num_blocks()));
  for (const SequenceBlocks* blocks : tables) {
    for (const BlockId id : blocks->table) ++num_holders[static_cast<size_t>(id)];
    if (blocks->num_committed > static_cast<int>(blocks->table.size())) {
      throw InternalError("kv: more blocks committed than held");
    }
  }
  for (BlockId id = 0; id < pool_.num_blocks(); ++id) {
    if (pool_.ref(id) != num_holders[static_cast<size_t>(id)]) {
      throw InternalError("kv: a block's ref is not the number of tables that hold it");
    }
  }
}

}  // namespace wl::kv
