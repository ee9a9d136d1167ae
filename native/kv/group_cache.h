#pragma once
// One KV group: its blocks, its prefix index, and which blocks a sequence holds there. Knows
// nothing of the other groups; the manager asks them all. Owned by the engine thread.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kv/block_pool.h"
#include "kv/kv_group.h"
#include "kv/prefix_cache.h"

namespace wl::kv {

/// A block of the table that the window has passed: given back.
constexpr BlockId kPassedBlock = -1;

/// A sequence's blocks in one group.
struct BlockTable {
  std::vector<BlockId> blocks;  // logical block -> block id; kPassedBlock before first_held
  int first_held = 0;

  int size() const { return static_cast<int>(blocks.size()); }
};

/// The tokens that a step adds to a sequence.
struct StepTokens {
  int num_computed = 0;  // in the cache before the step
  int step_end = 0;      // in the cache after it: what a windowed group makes room for
  int num_tokens = 0;    // of the whole sequence: what a full-attention group makes room for
};

/// The block that is being written was shared, or in the index; `to` is the private copy of it.
struct PrivateCopy {
  BlockId from = 0, to = 0;
};

class GroupCache {
 public:
  GroupCache(const KvGroupConfig& config, int block_size);

  bool is_windowed() const { return config_.window > 0; }
  int num_blocks() const { return pool_.num_blocks(); }
  int num_free() const { return pool_.num_free(); }
  int num_cached() const { return index_.size(); }

  /// First block that is read when num_computed tokens are in the cache.
  int first_needed(int num_computed) const {
    return first_needed_block(config_.window, block_size_, num_computed);
  }
  bool is_cached(const BlockHash& hash) const { return index_.find(hash).has_value(); }

  /// Blocks that allocate() takes from the pool.
  int num_new(const BlockTable& table, const StepTokens& step) const;
  /// Blocks that steps of this size take after it, until the sequence holds its most.
  int num_later(const BlockTable& table, const StepTokens& step) const;
  /// Makes room for a step, and the block of its first token private to this sequence.
  /// Precondition: num_new() blocks are free.
  std::optional<PrivateCopy> allocate(BlockTable& table, const StepTokens& step);

  /// Fills an empty table with the cached blocks of `hashes`, from the first that is needed.
  void attach(BlockTable& table, std::span<const BlockHash> hashes);
  /// Offers a block whose KV was written to the index.
  void commit(const BlockTable& table, int block_idx, const BlockHash& hash);
  /// Takes a block out of the index.
  void forget(const BlockHash& hash);
  /// One more table holds the blocks.
  void share(const BlockTable& table);
  /// Gives back what is not needed any more. Blocks of the window before a branch point (the first
  /// `branch_points[i]` tokens) are reused late, others early.
  void pass(BlockTable& table, int num_computed, std::span<const int> branch_points);
  /// Gives back the blocks behind the first num_tokens tokens, the last one first. What those
  /// tokens read is still held, or num_tokens is 0.
  void trim(BlockTable& table, int num_tokens);

  /// Throws InternalError when an invariant is broken. `tables`: those of all sequences.
  void check_integrity(std::span<const BlockTable* const> tables) const;

 private:
  int blocks_for(int num_tokens) const { return (num_tokens + block_size_ - 1) / block_size_; }
  int num_needed(const StepTokens& step) const {
    return blocks_for(is_windowed() ? step.step_end : step.num_tokens);
  }
  /// Somebody else reads the block that the step begins to write, or could find it by its hash.
  bool writes_shared(const BlockTable& table, const StepTokens& step) const;
  bool is_before_branch(int block_idx, std::span<const int> branch_points) const;
  BlockId allocate_block();
  void remove_from_index(BlockId id);

  const KvGroupConfig config_;
  const int block_size_;
  BlockPool pool_;
  PrefixCache index_;
};

}  // namespace wl::kv
