#pragma once
// Which blocks hold the KV of which sequence: prefix hits, allocation, copy-on-write, commit and
// release. Ids only; the engine performs the block copies that allocate_slots() asks for.
// Owned by the engine thread; no locks.
//
// Invariants (check_integrity, test/native/kv): a block is free with ref 0, or in as many block
// tables as its ref says; a hash in the index names a block whose KV was written; a block that is
// written has ref 1 and no hash.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kv/block_hash.h"
#include "kv/block_pool.h"
#include "kv/prefix_cache.h"

namespace wl::kv {

struct KvCacheConfig {
  int num_blocks = 0;
  int block_size = 0;  // tokens
  std::string fingerprint;
  bool enable_prefix_cache = true;
};

/// One sequence's share of the cache.
struct SequenceBlocks {
  std::string tenant_salt;        // an extra key of block 0; empty: none
  std::vector<BlockId> table;     // logical block -> block id
  std::vector<BlockHash> hashes;  // chain over the full blocks of the tokens, computed or not
  int num_committed = 0;          // leading blocks of the table that were offered to the index
};

/// Leading tokens found in the cache, whole blocks. An empty hit is a hit of 0 tokens.
struct PrefixHit {
  std::vector<BlockId> blocks;
  int num_tokens = 0;
};

/// Copy the first num_slots slots of `from` into `to`, before anything of the step is written and
/// in the order in which the copies were asked for.
struct BlockCopy {
  BlockId from = 0, to = 0;
  int num_slots = 0;
};

struct SlotAllocation {
  std::optional<BlockCopy> copy;  // the last block was shared and is now a private copy
};

class KvCacheManager {
 public:
  explicit KvCacheManager(const KvCacheConfig& config);

  int block_size() const { return config_.block_size; }
  int num_blocks() const { return pool_.num_blocks(); }
  int num_free_blocks() const { return pool_.num_free(); }
  int num_cached_blocks() const { return index_.size(); }
  uint64_t num_hashed_tokens() const { return num_hashed_tokens_; }

  /// Extends the hash chain over the full blocks of `tokens` (the sequence from position 0).
  void extend_hashes(SequenceBlocks& blocks, std::span<const int32_t> tokens);
  /// The longest run of cached blocks from block 0, at most all but the last of num_tokens tokens:
  /// one token must be computed to get logits. Empty when it cannot be longer than num_computed.
  PrefixHit lookup(const SequenceBlocks& blocks, int num_tokens, int num_computed = 0) const;
  /// Puts the hit's blocks at the head of an empty block table and holds them.
  void attach(SequenceBlocks& blocks, const PrefixHit& hit);
  /// Makes room for num_tokens tokens in all, of which num_computed are in the cache, and makes the
  /// block of the next token private to this sequence. nullopt: fewer free blocks than that needs
  /// plus num_spare; nothing changed.
  std::optional<SlotAllocation> allocate_slots(SequenceBlocks& blocks, int num_computed,
                                               int num_tokens, int num_spare = 0);
  /// Offers the blocks that num_computed tokens fill to the index. Their KV has been written.
  void commit(SequenceBlocks& blocks, std::span<const int32_t> tokens, int num_computed);
  /// A table with the same blocks. Its owner and the source copy the last one before they write.
  SequenceBlocks fork(const SequenceBlocks& blocks);
  /// Gives back the blocks behind the first num_tokens tokens.
  void trim(SequenceBlocks& blocks, int num_tokens);
  /// Gives back all blocks; full ones stay hittable until they are reused.
  void free(SequenceBlocks& blocks) { trim(blocks, 0); }
  /// As free(), and takes them out of the index: their KV is not to be trusted.
  void discard(SequenceBlocks& blocks);

  /// Throws InternalError when an invariant is broken. `tables`: every sequence with blocks.
  void check_integrity(std::span<const SequenceBlocks* const> tables) const;

 private:
  int blocks_for(int num_tokens) const {
    return (num_tokens + config_.block_size - 1) / config_.block_size;
  }
  BlockId allocate_block();
  void remove_from_index(BlockId id);

  const KvCacheConfig config_;
  const BlockHash root_;
  BlockPool pool_;
  PrefixCache index_;
  uint64_t num_hashed_tokens_ = 0;
};

}  // namespace wl::kv
