#pragma once
// Reference counts and eviction order of the physical KV blocks. Ids only: the tensors are the
// model runner's. One doubly linked free list holds every block with ref 0, in eviction order:
// at its head blocks that nothing can find any more, towards its tail cached blocks, the most
// recently freed last. Owned by the engine thread.

#include <cstdint>
#include <optional>
#include <vector>

#include "kv/block_hash.h"

namespace wl::kv {

using BlockId = int32_t;

class BlockPool {
 public:
  explicit BlockPool(int num_blocks);

  int num_blocks() const { return static_cast<int>(blocks_.size()); }
  int num_free() const { return num_free_; }
  int ref(BlockId id) const { return block(id).ref; }
  const std::optional<BlockHash>& hash(BlockId id) const { return block(id).hash; }
  void set_hash(BlockId id, const BlockHash& hash) { block(id).hash = hash; }
  void clear_hash(BlockId id) { block(id).hash.reset(); }

  /// The block that allocate() returns next. Precondition: num_free() > 0.
  BlockId next_free() const { return head_; }
  /// Takes the head of the free list, ref 1. Preconditions: num_free() > 0, and next_free() has no
  /// hash (its owner in the prefix index was removed).
  BlockId allocate();
  /// One more table holds the block; a free one leaves the free list.
  void add_ref(BlockId id);
  /// One table less. The last one puts it on the free list: a block with a hash at the tail, one
  /// without (nobody can hit it) at the head.
  void release(BlockId id);

  /// Throws InternalError unless the free list holds exactly the blocks with ref 0.
  void check_integrity() const;

 private:
  struct Block {
    int ref = 0;
    std::optional<BlockHash> hash;  // set while the prefix index maps this hash to this block
    BlockId prev = kEnd, next = kEnd;
  };
  static constexpr BlockId kEnd = -1;  // link past either end of the free list; never leaves here

  Block& block(BlockId id) { return blocks_[static_cast<size_t>(id)]; }
  const Block& block(BlockId id) const { return blocks_[static_cast<size_t>(id)]; }
  void push_front(BlockId id);
  void push_back(BlockId id);
  void unlink(BlockId id);

  std::vector<Block> blocks_;
  BlockId head_ = kEnd, tail_ = kEnd;
  int num_free_ = 0;
};

}  // namespace wl::kv
