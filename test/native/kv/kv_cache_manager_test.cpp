#include "kv/kv_cache_manager.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "check.h"

using namespace wl::kv;

using Tokens = std::vector<int32_t>;

static Tokens range(int32_t to) {
  Tokens tokens(static_cast<size_t>(to));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

static KvCacheManager make_manager(int num_blocks, bool enable_prefix_cache = true) {
  return KvCacheManager({{{0, num_blocks}}, 4, "test-model", enable_prefix_cache});
}

/// Allocates, "computes" and commits all tokens of a sequence that has no blocks yet.
static int compute(KvCacheManager& kv, SequenceBlocks& blocks, const Tokens& tokens) {
  kv.extend_hashes(blocks, tokens);
  const int num_tokens = static_cast<int>(tokens.size());
  const int num_hit = kv.lookup(blocks, num_tokens);
  kv.attach(blocks, num_hit);
  if (!kv.allocate_slots(blocks, {num_hit, num_tokens, num_tokens})) {
    kv.free(blocks);
    return -1;
  }
  kv.commit(blocks, tokens, num_tokens);
  return num_hit;
}

WL_TEST("kv: a second prompt with the same prefix hits its whole blocks, never its last token") {
  KvCacheManager kv = make_manager(16);
  SequenceBlocks a = kv.new_sequence(), b = kv.new_sequence(), c = kv.new_sequence();
  WL_CHECK_EQ(compute(kv, a, range(14)), 0);
  WL_CHECK_EQ(compute(kv, b, range(14)), 12);
  WL_CHECK_EQ(compute(kv, c, range(12)), 8);  // 3 full blocks, but one token must be computed
  WL_CHECK_EQ(a.tables[0].blocks[2], b.tables[0].blocks[2]);
  WL_CHECK(a.tables[0].blocks[3] != b.tables[0].blocks[3]);
  const SequenceBlocks* tables[] = {&a, &b, &c};
  kv.check_integrity(tables);
}

WL_TEST("kv: freed blocks stay hittable until they are reused, the tail first") {
  KvCacheManager kv = make_manager(4);
  SequenceBlocks a = kv.new_sequence(), b = kv.new_sequence(), c = kv.new_sequence();
  compute(kv, a, range(16));
  kv.free(a);
  WL_CHECK_EQ(kv.group(0).num_free(), 4);
  WL_CHECK_EQ(kv.group(0).num_cached(), 4);
  compute(kv, b, Tokens{90, 91, 92, 93, 94});  // takes two blocks: the deepest of a
  WL_CHECK_EQ(kv.lookup(a, 16), 8);
  kv.free(b);
  WL_CHECK_EQ(compute(kv, c, range(9)), 8);
}

WL_TEST("kv: another tenant salt never hits") {
  KvCacheManager kv = make_manager(16);
  SequenceBlocks a = kv.new_sequence("tenant-a"), b = kv.new_sequence("tenant-b");
  SequenceBlocks c = kv.new_sequence();
  compute(kv, a, range(14));
  WL_CHECK_EQ(compute(kv, b, range(14)), 0);
  WL_CHECK_EQ(compute(kv, c, range(14)), 0);
}

WL_TEST("kv: an allocation that does not fit changes nothing") {
  KvCacheManager kv = make_manager(4);
  SequenceBlocks a = kv.new_sequence();
  WL_CHECK(!kv.allocate_slots(a, {0, 17, 17}).has_value());
  WL_CHECK(!kv.has_room(a, {0, 13, 13}, 1));
  WL_CHECK(kv.has_room(a, {0, 13, 13}, 0));
  WL_CHECK(a.is_empty());
  WL_CHECK_EQ(kv.group(0).num_free(), 4);
  WL_CHECK(kv.allocate_slots(a, {0, 16, 16}).has_value());
}

WL_TEST("kv: a fork shares all blocks, and whoever writes first copies the last one") {
  KvCacheManager kv = make_manager(8);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(6));
  SequenceBlocks b = kv.fork(a, 6);
  WL_CHECK_EQ(kv.group(0).num_free(), 6);
  const auto allocation = kv.allocate_slots(a, {6, 7, 7});
  WL_CHECK(allocation && allocation->copies.size() == 1);
  WL_CHECK_EQ(allocation->copies[0].from, b.tables[0].blocks[1]);
  WL_CHECK_EQ(allocation->copies[0].to, a.tables[0].blocks[1]);
  WL_CHECK_EQ(allocation->copies[0].num_slots, 2);
  WL_CHECK_EQ(a.tables[0].blocks[0], b.tables[0].blocks[0]);
  WL_CHECK(kv.allocate_slots(b, {6, 7, 7})->copies.empty());  // it is the only holder now
  const SequenceBlocks* tables[] = {&a, &b};
  kv.check_integrity(tables);
}

WL_TEST("kv: a fork at an earlier length copies the cut block, also when nobody else holds it") {
  KvCacheManager kv = make_manager(8);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(12));
  const uint64_t num_hashed = kv.num_hashed_tokens();
  SequenceBlocks b = kv.fork(a, 6);
  WL_CHECK_EQ(b.tables[0].size(), 2);
  WL_CHECK_EQ(b.num_committed, 1);
  const auto shared_block = a.tables[0].blocks[1];
  kv.free(a);
  const auto allocation = kv.allocate_slots(b, {6, 8, 8});
  WL_CHECK(allocation && allocation->copies.size() == 1);
  WL_CHECK_EQ(allocation->copies[0].from, shared_block);
  WL_CHECK_EQ(allocation->copies[0].num_slots, 2);
  const Tokens other = {0, 1, 2, 3, 4, 5, 70, 71};
  kv.commit(b, other, 8);
  WL_CHECK_EQ(kv.num_hashed_tokens(), num_hashed + 4);
  SequenceBlocks again = kv.new_sequence();
  kv.extend_hashes(again, range(13));
  WL_CHECK_EQ(kv.lookup(again, 13), 12);  // the cut block is still what it was
  const SequenceBlocks* tables[] = {&b};
  kv.check_integrity(tables);
}

WL_TEST("kv: a sequence that computed the same block itself keeps a private duplicate") {
  KvCacheManager kv = make_manager(8);
  SequenceBlocks a = kv.new_sequence(), b = kv.new_sequence();
  kv.extend_hashes(a, range(8));
  kv.extend_hashes(b, range(8));
  WL_CHECK(kv.allocate_slots(a, {0, 8, 8}) && kv.allocate_slots(b, {0, 8, 8}));
  kv.commit(a, range(8), 8);
  kv.commit(b, range(8), 8);
  WL_CHECK(a.tables[0].blocks[0] != b.tables[0].blocks[0]);
  WL_CHECK_EQ(kv.group(0).num_cached(), 2);
  kv.free(b);
  const SequenceBlocks* tables[] = {&a, &b};
  kv.check_integrity(tables);
}

WL_TEST("kv: discarded blocks cannot be hit") {
  KvCacheManager kv = make_manager(8);
  SequenceBlocks a = kv.new_sequence(), b = kv.new_sequence();
  compute(kv, a, range(14));
  kv.discard(a);
  WL_CHECK_EQ(kv.group(0).num_cached(), 0);
  WL_CHECK_EQ(compute(kv, b, range(14)), 0);
}

WL_TEST("kv: without the prefix cache nothing is hashed and nothing hits") {
  KvCacheManager kv = make_manager(8, false);
  SequenceBlocks a = kv.new_sequence(), b = kv.new_sequence();
  compute(kv, a, range(14));
  WL_CHECK_EQ(compute(kv, b, range(14)), 0);
  WL_CHECK_EQ(kv.num_hashed_tokens(), uint64_t{0});
}
