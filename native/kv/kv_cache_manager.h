#pragma once
// Which blocks hold the KV of which sequence: prefix hits, allocation, copy-on-write, commit and
// release, in all KV groups together. Ids only; the engine performs the block copies that
// allocate_slots() asks for. Owned by the engine thread; no locks.
//
// A block's content depends on the tokens before it alone, so one hash chain serves all groups. A
// prefix of n tokens is a hit when full-attention groups have all its blocks and windowed groups
// those that the token at n reads.
//
// Invariants (check_integrity, test/native/kv): in each group a block is free with ref 0, or in as
// many block tables as its ref says; a hash in the index names a block whose KV was written; a
// block that is written has ref 1 and no hash.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kv/block_hash.h"
#include "kv/group_cache.h"
#include "kv/kv_group.h"

namespace wl::kv {

struct KvCacheConfig {
  std::vector<KvGroupConfig> groups;  // at least one; full attention first
  int block_size = 0;                 // tokens
  std::string fingerprint;
  bool enable_prefix_cache = true;
};

/// One sequence's share of the cache.
struct SequenceBlocks {
  std::string tenant_salt;         // an extra key of block 0; empty: none
  std::vector<BlockHash> hashes;   // chain over the full blocks of the tokens, computed or not
  std::vector<BlockTable> tables;  // one for each group
  int num_committed = 0;           // leading blocks that were offered to the index
  /// Lengths that others are likely to go on from: where it hit, where prompts and turns ended.
  std::vector<int> branch_points;

  bool is_empty() const { return tables[0].size() == 0; }
};

/// Copy the first num_slots slots of `from` into `to`, before anything of the step is written and
/// in the order in which the copies were asked for.
struct BlockCopy {
  int group = 0;
  BlockId from = 0, to = 0;
  int num_slots = 0;
};

struct SlotAllocation {
  std::vector<BlockCopy> copies;  // last blocks that were shared and are now private
};

class KvCacheManager {
 public:
  explicit KvCacheManager(const KvCacheConfig& config);

  int block_size() const { return config_.block_size; }
  int num_groups() const { return static_cast<int>(groups_.size()); }
  const GroupCache& group(int idx) const { return groups_[static_cast<size_t>(idx)]; }
  /// The group with the smallest share of free blocks.
  const GroupCache& fullest_group() const;
  uint64_t num_hashed_tokens() const { return num_hashed_tokens_; }

  /// A sequence without tokens.
  SequenceBlocks new_sequence(std::string tenant_salt = {}) const;
  /// Extends the hash chain over the full blocks of `tokens` (the sequence from position 0).
  void extend_hashes(SequenceBlocks& blocks, std::span<const int32_t> tokens);
  /// Tokens of the longest prefix that is cached, whole blocks, at most all but the last of
  /// num_tokens tokens: one token must be computed to get logits. 0 when it cannot be longer than
  /// num_computed.
  int lookup(const SequenceBlocks& blocks, int num_tokens, int num_computed = 0) const;
  /// Makes an empty sequence hold a hit of num_tokens tokens.
  void attach(SequenceBlocks& blocks, int num_tokens);
  /// Whether every group has room for a step and, where it needs new blocks at all, for the later
  /// steps of the same size, and num_spare blocks besides.
  bool has_room(const SequenceBlocks& blocks, const StepTokens& step, int num_spare) const;
  /// Makes room for a step and the block of its first token private to this sequence. nullopt:
  /// fewer free blocks than that needs; nothing changed.
  std::optional<SlotAllocation> allocate_slots(SequenceBlocks& blocks, const StepTokens& step);
  /// Offers the blocks that num_computed tokens fill to the index, then gives those back that the
  /// next token does not read. Their KV has been written.
  void commit(SequenceBlocks& blocks, std::span<const int32_t> tokens, int num_computed);
  /// Others are likely to go on after the first num_tokens tokens: their windows are reused last.
  void mark_branch_point(SequenceBlocks& blocks, int num_tokens) const;
  /// A sequence with the blocks and hashes of the first num_tokens tokens. Its owner and the source
  /// copy the last ones before they write. It has no blocks where a window has passed those tokens.
  SequenceBlocks fork(const SequenceBlocks& blocks, int num_tokens);
  /// Gives back the blocks behind the first num_tokens tokens: all that are computed, or none.
  void trim(SequenceBlocks& blocks, int num_tokens);
  /// Gives back all blocks; full ones stay hittable until they are reused.
  void free(SequenceBlocks& blocks) { trim(blocks, 0); }
  /// As free(), and takes its blocks out of the index: their KV is not to be trusted.
  void discard(SequenceBlocks& blocks);

  /// Throws InternalError when an invariant is broken. `sequences`: every sequence with blocks.
  void check_integrity(std::span<const SequenceBlocks* const> sequences) const;

 private:
  const KvCacheConfig config_;
  const BlockHash root_;
  std::vector<GroupCache> groups_;
  uint64_t num_hashed_tokens_ = 0;
};

}  // namespace wl::kv
