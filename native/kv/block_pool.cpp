#include "kv/block_pool.h"

#include "base/result.h"

namespace wl::kv {

BlockPool::BlockPool(int num_blocks) : blocks_(static_cast<size_t>(num_blocks)) {
  for (BlockId id = 0; id < num_blocks; ++id) push_back(id);
}

BlockId BlockPool::allocate() {
  if (num_free_ == 0) throw InternalError("block pool: allocate() with no free block");
  const BlockId id = head_;
  if (block(id).hash) throw InternalError("block pool: an allocated block still has a hash");
  unlink(id);
  block(id).ref = 1;
  return id;
}

void BlockPool::add_ref(BlockId id) {
  if (block(id).ref++ == 0) unlink(id);
}

void BlockPool::release(BlockId id) {
  Block& released = block(id);
  if (released.ref <= 0) throw InternalError("block pool: release() of a free block");
  if (--released.ref > 0) return;
  if (released.hash) {
    push_back(id);
  } else {
    push_front(id);
  }
}

void BlockPool::push_front(BlockId id) {
  block(id).prev = kEnd;
  block(id).next = head_;
  (head_ == kEnd ? tail_ : block(head_).prev) = id;
  head_ = id;
  ++num_free_;
}

void BlockPool::push_back(BlockId id) {
  block(id).prev = tail_;
  block(id).next = kEnd;
  (tail_ == kEnd ? head_ : block(tail_).next) = id;
  tail_ = id;
  ++num_free_;
}

void BlockPool::unlink(BlockId id) {
  const Block& removed = block(id);
  (removed.prev == kEnd ? head_ : block(removed.prev).next) = removed.next;
  (removed.next == kEnd ? tail_ : block(removed.next).prev) = removed.prev;
  --num_free_;
}

void BlockPool::check_integrity() const {
  std::vector<bool> is_listed(blocks_.size());
  int num_listed = 0;
  BlockId prev = kEnd;
  for (BlockId id = head_; id != kEnd; prev = id, id = block(id).next) {
    if (is_listed[static_cast<size_t>(id)])
      throw InternalError("block pool: free list has a cycle");
    if (block(id).prev != prev) throw InternalError("block pool: free list links disagree");
    if (block(id).ref != 0) throw InternalError("block pool: a block in use is on the free list");
    is_listed[static_cast<size_t>(id)] = true;
    ++num_listed;
  }
  if (tail_ != prev) throw InternalError("block pool: the tail is not the last free block");
  if (num_listed != num_free_) throw InternalError("block pool: the free count is wrong");
  for (BlockId id = 0; id < num_blocks(); ++id) {
    if (block(id).ref == 0 && !is_listed[static_cast<size_t>(id)]) {
      throw InternalError("block pool: a block leaked");
    }
  }
}

}  // namespace wl::kv
