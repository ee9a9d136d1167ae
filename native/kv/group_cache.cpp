#include "kv/group_cache.h"

#include <algorithm>

#include "base/result.h"

namespace wl::kv {

GroupCache::GroupCache(const KvGroupConfig& config, int block_size)
    : config_(config), block_size_(block_size), pool_(config.num_blocks) {}

bool GroupCache::writes_shared(const BlockTable& table, const StepTokens& step) const {
  const int block_idx = step.num_computed / block_size_;
  if (block_idx >= table.size()) return false;
  const BlockId id = table.blocks[static_cast<size_t>(block_idx)];
  return pool_.ref(id) > 1 || pool_.hash(id).has_value();
}

int GroupCache::num_new(const BlockTable& table, const StepTokens& step) const {
  return std::max(0, num_needed(step) - table.size()) + (writes_shared(table, step) ? 1 : 0);
}

int GroupCache::num_later(const BlockTable& table, const StepTokens& step) const {
  if (!is_windowed()) return 0;
  const int most =
      std::min(blocks_for(step.num_tokens),
               num_window_blocks(config_.window, block_size_, step.step_end - step.num_computed));
  const int num_held = std::max(table.size(), num_needed(step)) - table.first_held;
  return std::max(0, most - num_held);
}

std::optional<PrivateCopy> GroupCache::allocate(BlockTable& table, const StepTokens& step) {
  std::optional<PrivateCopy> copy;
  if (writes_shared(table, step)) {
    BlockId& entry = table.blocks[static_cast<size_t>(step.num_computed / block_size_)];
    copy = PrivateCopy{entry, allocate_block()};
    pool_.release(entry);
    entry = copy->to;
  }
  while (table.size() < num_needed(step)) table.blocks.push_back(allocate_block());
  return copy;
}

void GroupCache::attach(BlockTable& table, std::span<const BlockHash> hashes) {
  if (table.size() > 0) throw InternalError("kv: attach() to a sequence that has blocks");
  const int num_blocks = static_cast<int>(hashes.size());
  table.first_held = first_needed(num_blocks * block_size_);
  table.blocks.assign(static_cast<size_t>(table.first_held), kPassedBlock);
  for (const BlockHash& hash : hashes.subspan(static_cast<size_t>(table.first_held))) {
    const std::optional<BlockId> id = index_.find(hash);
    if (!id) throw InternalError("kv: attach() of a block that is not cached");
    pool_.add_ref(*id);
    table.blocks.push_back(*id);
  }
}

void GroupCache::commit(const BlockTable& table, int block_idx, const BlockHash& hash) {
  const BlockId id = table.blocks[static_cast<size_t>(block_idx)];
  // A second block with the same content stays private: its sequence already reads from it.
  if (index_.insert(hash, id)) pool_.set_hash(id, hash);
}

void GroupCache::forget(const BlockHash& hash) {
  if (const std::optional<BlockId> id = index_.find(hash)) remove_from_index(*id);
}

void GroupCache::share(const BlockTable& table) {
  for (int i = table.first_held; i < table.size(); ++i) {
    pool_.add_ref(table.blocks[static_cast<size_t>(i)]);
  }
}

void GroupCache::pass(BlockTable& table, int num_computed, std::span<const int> branch_points) {
  const int first = first_needed(num_computed);
  for (; table.first_held < first; ++table.first_held) {
    BlockId& entry = table.blocks[static_cast<size_t>(table.first_held)];
    const bool is_wanted = is_before_branch(table.first_held, branch_points);
    pool_.release(entry, is_wanted ? Reuse::kLate : Reuse::kEarly);
    entry = kPassedBlock;
  }
}

bool GroupCache::is_before_branch(int block_idx, std::span<const int> branch_points) const {
  return std::ranges::any_of(branch_points, [&](int num_tokens) {
    // The last token of a prompt is always computed: its block may not be part of the hit.
    return block_idx * block_size_ < num_tokens && block_idx >= first_needed(num_tokens - 1);
  });
}

void GroupCache::trim(BlockTable& table, int num_tokens) {
  if (num_tokens > 0 && first_needed(num_tokens) < table.first_held) {
    throw InternalError("kv: trim() to a length whose window has been given back");
  }
  // From the tail: the deeper a block, the fewer later prompts can share it, so it is reused first.
  while (table.size() > std::max(blocks_for(num_tokens), table.first_held)) {
    pool_.release(table.blocks.back());
    table.blocks.pop_back();
  }
  if (num_tokens == 0) table = {};
}

BlockId GroupCache::allocate_block() {
  remove_from_index(pool_.next_free());
  return pool_.allocate();
}

void GroupCache::remove_from_index(BlockId id) {
  const std::optional<BlockHash> hash = pool_.hash(id);
  if (!hash) return;
  index_.erase(*hash);
  pool_.clear_hash(id);
}

void GroupCache::check_integrity(std::span<const BlockTable* const> tables) const {
  pool_.check_integrity();
  index_.check_integrity(pool_);
  std::vector<int> num_holders(static_cast<size_t>(pool_.num_blocks()));
  for (const BlockTable* table : tables) {
    for (int i = 0; i < table->size(); ++i) {
      const BlockId id = table->blocks[static_cast<size_t>(i)];
      if ((id == kPassedBlock) != (i < table->first_held)) {
        throw InternalError("kv: a table has a hole, or holds a block that its window has passed");
      }
      if (id != kPassedBlock) ++num_holders[static_cast<size_t>(id)];
    }
  }
  for (BlockId id = 0; id < pool_.num_blocks(); ++id) {
    if (pool_.ref(id) != num_holders[static_cast<size_t>(id)]) {
      throw InternalError("kv: a block's ref is not the number of tables that hold it");
    }
  }
}

}  // namespace wl::kv
