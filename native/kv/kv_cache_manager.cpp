#include "kv/kv_cache_manager.h"

#include <algorithm>

#include "base/result.h"

namespace wl::kv {

KvCacheManager::KvCacheManager(const KvCacheConfig& config)
    : config_(config), root_(root_hash(config.fingerprint)) {
  for (const KvGroupConfig& group : config.groups) groups_.emplace_back(group, config.block_size);
}

const GroupCache& KvCacheManager::fullest_group() const {
  return *std::ranges::min_element(groups_, {}, [](const GroupCache& group) {
    return static_cast<double>(group.num_free()) / group.num_blocks();
  });
}

SequenceBlocks KvCacheManager::new_sequence(std::string tenant_salt) const {
  SequenceBlocks blocks;
  blocks.tenant_salt = std::move(tenant_salt);
  blocks.tables.resize(groups_.size());
  return blocks;
}

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

int KvCacheManager::lookup(const SequenceBlocks& blocks, int num_tokens, int num_computed) const {
  const auto is_cached = [&](const GroupCache& group, int block_idx) {
    return group.is_cached(blocks.hashes[static_cast<size_t>(block_idx)]);
  };
  int num_blocks =
      std::min(static_cast<int>(blocks.hashes.size()), (num_tokens - 1) / config_.block_size);
  const int first_new = num_computed / config_.block_size;
  // known_from[g]: the group has the blocks from there up to num_blocks.
  std::vector<int> known_from(groups_.size(), num_blocks);
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].is_windowed()) continue;
    // A longer hit has the first block that the sequence lacks: one look-up settles most turns.
    if (first_new >= num_blocks || !is_cached(groups_[g], first_new)) return 0;
    int run = 0;
    while (run < num_blocks && is_cached(groups_[g], run)) ++run;
    num_blocks = run;
    known_from[g] = 0;
  }
  // A block that a windowed group lacks rules out all lengths that read it: the longest one left
  // ends before it, and all groups are asked again.
  for (size_t g = 0; g < groups_.size() && num_blocks > first_new;) {
    int& from = known_from[g];
    from = std::min(from, num_blocks);
    const int first_needed = groups_[g].first_needed(num_blocks * config_.block_size);
    while (from > first_needed && is_cached(groups_[g], from - 1)) --from;
    if (from <= first_needed) {
      ++g;
    } else {
      num_blocks = from - 1;
      g = 0;
    }
  }
  return num_blocks > first_new ? num_blocks * config_.block_size : 0;
}

void KvCacheManager::attach(SequenceBlocks& blocks, int num_tokens) {
  const int num_blocks = num_tokens / config_.block_size;
  for (size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].attach(blocks.tables[g],
                      std::span(blocks.hashes).first(static_cast<size_t>(num_blocks)));
  }
  blocks.num_committed = num_blocks;
  mark_branch_point(blocks, num_tokens);
}

bool KvCacheManager::has_room(const SequenceBlocks& blocks, const StepTokens& step,
                              int num_spare) const {
  for (size_t g = 0; g < groups_.size(); ++g) {
    const int num_new = groups_[g].num_new(blocks.tables[g], step);
    const int num_later = groups_[g].num_later(blocks.tables[g], step);
    if (num_new + num_later > 0 && groups_[g].num_free() < num_new + num_later + num_spare) {
      return false;
    }
  }
  return true;
}

std::optional<SlotAllocation> KvCacheManager::allocate_slots(SequenceBlocks& blocks,
                                                             const StepTokens& step) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].num_free() < groups_[g].num_new(blocks.tables[g], step)) return std::nullopt;
  }
  SlotAllocation allocation;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto copy = groups_[g].allocate(blocks.tables[g], step);
    if (!copy) continue;
    allocation.copies.push_back(
        {static_cast<int>(g), copy->from, copy->to, step.num_computed % config_.block_size});
  }
  return allocation;
}

void KvCacheManager::commit(SequenceBlocks& blocks, std::span<const int32_t> tokens,
                            int num_computed) {
  if (config_.enable_prefix_cache) {
    extend_hashes(blocks, tokens);
    const int num_full = num_computed / config_.block_size;
    for (int& i = blocks.num_committed; i < num_full; ++i) {
      for (size_t g = 0; g < groups_.size(); ++g) {
        groups_[g].commit(blocks.tables[g], i, blocks.hashes[static_cast<size_t>(i)]);
      }
    }
  }
  for (size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].pass(blocks.tables[g], num_computed, blocks.branch_points);
  }
}

void KvCacheManager::mark_branch_point(SequenceBlocks& blocks, int num_tokens) const {
  // Those whose windows have been given back have done their part.
  const auto is_done = [&](int branch_point) {
    for (size_t g = 0; g < groups_.size(); ++g) {
      const int first_held = blocks.tables[g].first_held * config_.block_size;
      if (groups_[g].is_windowed() && first_held < branch_point) return false;
    }
    return true;
  };
  blocks.branch_points.push_back(num_tokens);
  std::erase_if(blocks.branch_points, is_done);
}

SequenceBlocks KvCacheManager::fork(const SequenceBlocks& blocks, int num_tokens) {
  const auto num_full = static_cast<size_t>(num_tokens / config_.block_size);
  SequenceBlocks forked = blocks;
  forked.hashes.resize(std::min(blocks.hashes.size(), num_full));
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].first_needed(num_tokens) < blocks.tables[g].first_held) {
      forked.tables.assign(groups_.size(), {});
      forked.num_committed = 0;
      forked.branch_points.clear();
      return forked;
    }
  }
  for (size_t g = 0; g < groups_.size(); ++g) groups_[g].share(forked.tables[g]);
  trim(forked, num_tokens);
  return forked;
}

void KvCacheManager::trim(SequenceBlocks& blocks, int num_tokens) {
  for (size_t g = 0; g < groups_.size(); ++g) groups_[g].trim(blocks.tables[g], num_tokens);
  // A block that is cut is written again.
  blocks.num_committed = std::min(blocks.num_committed, num_tokens / config_.block_size);
  std::erase_if(blocks.branch_points, [&](int branch) { return branch > num_tokens; });
}

void KvCacheManager::discard(SequenceBlocks& blocks) {
  for (GroupCache& group : groups_) {
    for (int i = 0; i < blocks.num_committed; ++i) {
      group.forget(blocks.hashes[static_cast<size_t>(i)]);
    }
  }
  free(blocks);
}

void KvCacheManager::check_integrity(std::span<const SequenceBlocks* const> sequences) const {
  for (size_t g = 0; g < groups_.size(); ++g) {
    std::vector<const BlockTable*> tables;
    for (const SequenceBlocks* blocks : sequences) tables.push_back(&blocks->tables[g]);
    groups_[g].check_integrity(tables);
  }
  for (const SequenceBlocks* blocks : sequences) {
    for (const BlockTable& table : blocks->tables) {
      if (blocks->num_committed > table.size()) {
        throw InternalError("kv: more blocks committed than held");
      }
    }
  }
}

}  // namespace wl::kv
