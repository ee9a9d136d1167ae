#pragma once
// Reference counts and reuse order of one group's physical KV blocks. Ids only: the tensors are the
// model runner's. Owned by the engine thread.
//
// A free block (ref 0) stands in one of three queues, by who may still ask for it:
//   empty   nobody: it has no hash. Reused before all others.
//   passed  hardly anybody: a window slid past it in the middle of a prompt. First in, first out.
//   cached  a later prompt: it is part of a prefix, or of the window before a branch point.
//           Least recently freed first.
// Passed blocks are reused before cached ones, so that one long prompt does not push the windows of
// other sequences out; but an eighth of the pool is left to them, because prompts that are computed
// at the same time branch off in the middle of each other.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kv/block_hash.h"

namespace wl::kv {

using BlockId = int32_t;

/// When a block that is given back may be reused.
enum class Reuse : uint8_t { kLate, kEarly };

class BlockPool {
 public:
  explicit BlockPool(int num_blocks);

  int num_blocks() const { return static_cast<int>(blocks_.size()); }
  int num_free() const {
    return queues_[kEmpty].size + queues_[kPassed].size + queues_[kCached].size;
  }
  int ref(BlockId id) const { return block(id).ref; }
  const std::optional<BlockHash>& hash(BlockId id) const { return block(id).hash; }
  void set_hash(BlockId id, const BlockHash& hash) { block(id).hash = hash; }
  /// A free block joins the empty ones.
  void clear_hash(BlockId id);

  /// The block that allocate() returns next. Precondition: num_free() > 0.
  BlockId next_free() const;
  /// Takes next_free(), ref 1. Preconditions: num_free() > 0, and next_free() has no hash (its
  /// owner in the prefix index was removed).
  BlockId allocate();
  /// One more table holds the block; a free one leaves its queue.
  void add_ref(BlockId id);
  /// One table less; the last one frees the block. `reuse` counts only for a block with a hash.
  void release(BlockId id, Reuse reuse = Reuse::kLate);

  /// Throws InternalError unless the queues hold exactly the blocks with ref 0.
  void check_integrity() const;

 private:
  enum QueueName : uint8_t { kEmpty, kPassed, kCached, kNumQueues };
  struct Block {
    int ref = 0;
    std::optional<BlockHash> hash;  // set while the prefix index maps this hash to this block
    QueueName queue = kEmpty;       // while free
    BlockId prev = kEnd, next = kEnd;
  };
  struct Queue {
    BlockId head = kEnd, tail = kEnd;
    int size = 0;
  };
  static constexpr BlockId kEnd = -1;  // link past either end of a queue; never leaves here

  Block& block(BlockId id) { return blocks_[static_cast<size_t>(id)]; }
  const Block& block(BlockId id) const { return blocks_[static_cast<size_t>(id)]; }
  void push_front(QueueName name, BlockId id);
  void push_back(QueueName name, BlockId id);
  void unlink(BlockId id);

  std::vector<Block> blocks_;
  std::array<Queue, kNumQueues> queues_;
};

}  // namespace wl::kv
