#include "kv/block_pool.h"

#include <random>

#include "check.h"

using namespace wl::kv;

WL_TEST("block pool: blocks are handed out in order and return to the free list") {
  BlockPool pool(3);
  const BlockId a = pool.allocate(), b = pool.allocate();
  WL_CHECK_EQ(a, 0);
  WL_CHECK_EQ(b, 1);
  WL_CHECK_EQ(pool.num_free(), 1);
  pool.release(a);
  WL_CHECK_EQ(pool.num_free(), 2);
  pool.check_integrity();
}

WL_TEST("block pool: a block that nobody can find is reused before cached ones") {
  BlockPool pool(3);
  const BlockId cached = pool.allocate(), scratch = pool.allocate();
  pool.set_hash(cached, root_hash("x"));
  pool.release(cached);
  pool.release(scratch);
  WL_CHECK_EQ(pool.allocate(), scratch);
  WL_CHECK_EQ(pool.allocate(), 2);
  WL_CHECK_EQ(pool.next_free(), cached);
}

WL_TEST("block pool: a second holder of a free block takes it off the free list") {
  BlockPool pool(2);
  pool.add_ref(1);
  pool.add_ref(1);
  WL_CHECK_EQ(pool.ref(1), 2);
  WL_CHECK_EQ(pool.num_free(), 1);
  pool.release(1);
  WL_CHECK_EQ(pool.num_free(), 1);
  pool.release(1);
  WL_CHECK_EQ(pool.num_free(), 2);
  pool.check_integrity();
}

WL_TEST("block pool: random operations keep the free list whole") {
  std::mt19937 rng(7);
  for (int num_blocks : {1, 2, 5, 17}) {
    BlockPool pool(num_blocks);
    std::vector<BlockId> held;
    for (int i = 0; i < 2000; ++i) {
      const unsigned choice = rng() % 3;
      if (choice == 0 && pool.num_free() > 0) {
        pool.clear_hash(pool.next_free());
        held.push_back(pool.allocate());
        if (rng() % 2 == 0) pool.set_hash(held.back(), root_hash("x"));
      } else if (choice == 1) {
        held.push_back(static_cast<BlockId>(rng() % static_cast<unsigned>(num_blocks)));
        pool.add_ref(held.back());
      } else if (!held.empty()) {
        std::swap(held[rng() % held.size()], held.back());
        pool.release(held.back(), rng() % 2 == 0 ? Reuse::kEarly : Reuse::kLate);
        held.pop_back();
      }
      pool.check_integrity();
    }
    for (const BlockId id : held) pool.release(id);
    WL_CHECK_EQ(pool.num_free(), num_blocks);
  }
}

WL_TEST(
    "block pool: blocks for early reuse go first, oldest first, but an eighth is left to them") {
  BlockPool pool(16);
  for (BlockId id = 0; id < 16; ++id) {
    pool.allocate();
    pool.set_hash(id, root_hash("x"));
  }
  for (BlockId id = 0; id < 12; ++id) pool.release(id, Reuse::kLate);
  for (BlockId id = 12; id < 16; ++id) pool.release(id, Reuse::kEarly);
  std::vector<BlockId> order;
  while (pool.num_free() > 0) {
    pool.clear_hash(pool.next_free());
    order.push_back(pool.allocate());
    pool.check_integrity();
  }
  WL_CHECK(order == (std::vector<BlockId>{12, 13, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15}));
}

WL_TEST("block pool: a free block that loses its hash is reused first") {
  BlockPool pool(2);
  for (BlockId id = 0; id < 2; ++id) {
    pool.allocate();
    pool.set_hash(id, root_hash("x"));
  }
  pool.release(0);
  pool.release(1);
  pool.clear_hash(1);
  WL_CHECK_EQ(pool.next_free(), 1);
  pool.check_integrity();
}
