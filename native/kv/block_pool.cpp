#include "kv/block_pool.h"

#include "base/result.h"

namespace wl::kv {

BlockPool::BlockPool(int num_blocks) : blocks_(static_cast<size_t>(num_blocks)) {
  for (BlockId id = 0; id < num_blocks; ++id) push_back(kEmpty, id);
}

BlockId BlockPool::next_free() const {
  const Queue& empty = queues_[kEmpty];
  const Queue& passed = queues_[kPassed];
  const Queue& cached = queues_[kCached];
  if (empty.size > 0) return empty.head;
  if (cached.size == 0) return passed.head;
  return passed.size > num_blocks() / 8 ? passed.head : cached.head;
}

BlockId BlockPool::allocate() {
  if (num_free() == 0) throw InternalError("block pool: allocate() with no free block");
  const BlockId id = next_free();
  if (block(id).hash) throw InternalError("block pool: an allocated block still has a hash");
  unlink(id);
  block(id).ref = 1;
  return id;
}

void BlockPool::clear_hash(BlockId id) {
  block(id).hash.reset();
  if (block(id).ref > 0) return;
  unlink(id);
  push_front(kEmpty, id);
}

void BlockPool::add_ref(BlockId id) {
  if (block(id).ref++ == 0) unlink(id);
}

void BlockPool::release(BlockId id, Reuse reuse) {
  Block& released = block(id);
  if (released.ref <= 0) throw InternalError("block pool: release() of a free block");
  if (--released.ref > 0) return;
  if (!released.hash) {
    push_front(kEmpty, id);
  } else {
    push_back(reuse == Reuse::kEarly ? kPassed : kCached, id);
  }
}

void BlockPool::push_front(QueueName name, BlockId id) {
  Queue& queue = queues_[name];
  block(id).queue = name;
  block(id).prev = kEnd;
  block(id).next = queue.head;
  (queue.head == kEnd ? queue.tail : block(queue.head).prev) = id;
  queue.head = id;
  ++queue.size;
}

void BlockPool::push_back(QueueName name, BlockId id) {
  Queue& queue = queues_[name];
  block(id).queue = name;
  block(id).prev = queue.tail;
  block(id).next = kEnd;
  (queue.tail == kEnd ? queue.head : block(queue.tail).next) = id;
  queue.tail = id;
  ++queue.size;
}

void BlockPool::unlink(BlockId id) {
  const Block& removed = block(id);
  Queue& queue = queues_[removed.queue];
  (removed.prev == kEnd ? queue.head : block(removed.prev).next) = removed.next;
  (removed.next == kEnd ? queue.tail : block(removed.next).prev) = removed.prev;
  --queue.size;
}

void BlockPool::check_integrity() const {
  std::vector<bool> is_listed(blocks_.size());
  for (const QueueName name : {kEmpty, kPassed, kCached}) {
    const Queue& queue = queues_[name];
    int num_listed = 0;
    BlockId prev = kEnd;
    for (BlockId id = queue.head; id != kEnd; prev = id, id = block(id).next) {
      if (is_listed[static_cast<size_t>(id)])
        throw InternalError("block pool: a queue has a cycle");
      if (block(id).prev != prev) throw InternalError("block pool: the links of a queue disagree");
      if (block(id).ref != 0) throw InternalError("block pool: a block in use is in a queue");
      if (block(id).queue != name) throw InternalError("block pool: a block is in a wrong queue");
      if (block(id).hash.has_value() != (name != kEmpty)) {
        throw InternalError("block pool: empty blocks and blocks with a hash are mixed");
      }
      is_listed[static_cast<size_t>(id)] = true;
      ++num_listed;
    }
    if (queue.tail != prev)
      throw InternalError("block pool: the tail is not the last of its queue");
    if (num_listed != queue.size) throw InternalError("block pool: the size of a queue is wrong");
  }
  for (BlockId id = 0; id < num_blocks(); ++id) {
    if (block(id).ref == 0 && !is_listed[static_cast<size_t>(id)]) {
      throw InternalError("block pool: a block leaked");
    }
  }
}

}  // namespace wl::kv
