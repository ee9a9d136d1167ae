// Sliding windows in the KV bookkeeping: what is held, what is given back, what can be hit.

#include <algorithm>
#include <exception>
#include <numeric>

#include "check.h"
#include "kv/kv_cache_manager.h"

using namespace wl::kv;

using Tokens = std::vector<int32_t>;

namespace {

constexpr int kBlockSize = 4;

Tokens range(int32_t to) {
  Tokens tokens(static_cast<size_t>(to));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

/// One full-attention group, and one that sees 8 keys: two blocks, or three at most.
KvCacheManager make_manager(int num_blocks, int num_window_blocks) {
  return KvCacheManager({{{0, num_blocks}, {8, num_window_blocks}}, kBlockSize, "model", true});
}

/// Computes and commits the tokens from num_computed on, `chunk` at a time.
void compute(KvCacheManager& kv, SequenceBlocks& blocks, const Tokens& tokens, int num_computed,
             int chunk) {
  const int num_tokens = static_cast<int>(tokens.size());
  while (num_computed < num_tokens) {
    const int end = std::min(num_computed + chunk, num_tokens);
    WL_CHECK(kv.allocate_slots(blocks, {num_computed, end, num_tokens}).has_value());
    kv.commit(blocks, tokens, end);
    num_computed = end;
  }
}

/// What a new request for `tokens` would find.
int lookup(KvCacheManager& kv, const Tokens& tokens) {
  SequenceBlocks blocks = kv.new_sequence();
  kv.extend_hashes(blocks, tokens);
  return kv.lookup(blocks, static_cast<int>(tokens.size()));
}

}  // namespace

WL_TEST("kv window: the first needed block counts from the last block boundary") {
  WL_CHECK_EQ(first_needed_block(0, 4, 100), 0);
  WL_CHECK_EQ(first_needed_block(8, 4, 7), 0);
  WL_CHECK_EQ(first_needed_block(8, 4, 11), 0);  // the boundary 8 reads 1..7
  WL_CHECK_EQ(first_needed_block(8, 4, 12), 1);  // 12 reads 5..11
  WL_CHECK_EQ(first_needed_block(9, 4, 12), 1);  // 4..11
  WL_CHECK_EQ(first_needed_block(10, 4, 12), 0);
  WL_CHECK_EQ(first_needed_block(1, 4, 12), 3);
}

WL_TEST("kv window: no sequence holds more than the stated most, and some hold it") {
  for (const int window : {1, 2, 4, 5, 8, 9, 17}) {
    for (const int chunk : {1, 3, 4, 5, 16}) {
      int most = 0;
      for (int begin = 0; begin < 100; ++begin) {
        const int end_block = (begin + chunk + kBlockSize - 1) / kBlockSize;
        most = std::max(most, end_block - first_needed_block(window, kBlockSize, begin));
      }
      WL_CHECK_EQ(most, num_window_blocks(window, kBlockSize, chunk));
    }
  }
}

WL_TEST("kv window: a pool that holds a window serves sequences of any length, in smaller steps") {
  const KvGroupConfig group{8, 5};  // most: 2 + 1 + ceil((n - 1) / 4)
  WL_CHECK_EQ(max_step_tokens(group, 4, 1000), 9);
  WL_CHECK_EQ(num_window_blocks(8, 4, 9), 5);
  WL_CHECK_EQ(num_window_blocks(8, 4, 10), 6);
  WL_CHECK_EQ(max_step_tokens(group, 4, 20), 20);  // the whole sequence fits
  WL_CHECK(max_sequence_tokens(group, 4) > 1'000'000'000);
  WL_CHECK_EQ(max_sequence_tokens({8, 2}, 4), 8);
  WL_CHECK_EQ(max_sequence_tokens({0, 5}, 4), 20);
}

WL_TEST("kv window: a long sequence holds its window only, and all blocks of full attention") {
  KvCacheManager kv = make_manager(32, 8);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(50), 0, 5);
  WL_CHECK_EQ(32 - kv.group(0).num_free(), 13);
  WL_CHECK_EQ(a.tables[1].first_held, 10);  // from position 48 - 7 on
  WL_CHECK_EQ(a.tables[1].blocks[9], kPassedBlock);
  WL_CHECK_EQ(8 - kv.group(1).num_free(), 3);
  kv.free(a);
  WL_CHECK_EQ(kv.group(0).num_free(), 32);
  WL_CHECK_EQ(kv.group(1).num_free(), 8);
}

WL_TEST(
    "kv window: room is taken a chunk at a time, and a chunk that does not fit changes nothing") {
  KvCacheManager kv = make_manager(32, 4);
  SequenceBlocks a = kv.new_sequence();
  WL_CHECK(!kv.allocate_slots(a, {0, 17, 40}).has_value());
  WL_CHECK(a.is_empty());
  WL_CHECK(kv.allocate_slots(a, {0, 16, 40}).has_value());
  WL_CHECK_EQ(a.tables[0].size(), 10);
  WL_CHECK_EQ(a.tables[1].size(), 4);
}

WL_TEST("kv window: a request has room when its window and a chunk are free, not its first chunk") {
  KvCacheManager kv = make_manager(32, 6);
  SequenceBlocks a = kv.new_sequence();
  WL_CHECK(kv.has_room(a, {0, 8, 40}, 1));  // 2 + 1 + 2 of the 6
  WL_CHECK(!kv.has_room(a, {0, 8, 40}, 2));
  WL_CHECK(kv.has_room(a, {0, 8, 16}, 2));  // a sequence of 4 blocks
}

WL_TEST("kv window: a prefix is a hit where the window before its end is cached") {
  KvCacheManager kv = make_manager(64, 32);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(40), 0, 4);
  kv.free(a);
  WL_CHECK_EQ(lookup(kv, range(60)), 40);
  WL_CHECK_EQ(lookup(kv, range(30)), 28);  // passed blocks stay hittable
  // Blocks 0..3 are reused: 28 reads from 5 on, 24 from 4, 20 from 3.
  SequenceBlocks b = kv.new_sequence();
  const Tokens other(104, 77);
  compute(kv, b, other, 0, 104);
  WL_CHECK_EQ(lookup(kv, range(30)), 28);
  WL_CHECK_EQ(lookup(kv, range(28)), 24);
  WL_CHECK_EQ(lookup(kv, range(24)), 0);
}

WL_TEST("kv window: a hit holds the window and nothing before it") {
  KvCacheManager kv = make_manager(32, 32);
  SequenceBlocks a = kv.new_sequence(), b = kv.new_sequence();
  compute(kv, a, range(40), 0, 40);
  kv.extend_hashes(b, range(40));
  kv.attach(b, kv.lookup(b, 40));
  WL_CHECK_EQ(b.tables[0].size(), 9);
  WL_CHECK_EQ(b.tables[0].first_held, 0);
  WL_CHECK_EQ(b.tables[1].size(), 9);
  WL_CHECK_EQ(b.tables[1].first_held, 7);
  compute(kv, b, range(40), 36, 4);
  const SequenceBlocks* all[] = {&a, &b};
  kv.check_integrity(all);
}

WL_TEST("kv window: whoever writes a shared last block copies it in every group") {
  KvCacheManager kv = make_manager(16, 16);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(22), 0, 22);
  SequenceBlocks b = kv.fork(a, 22);
  const auto allocation = kv.allocate_slots(b, {22, 23, 23});
  WL_CHECK_EQ(allocation->copies.size(), size_t{2});
  for (size_t g = 0; g < 2; ++g) {
    const BlockCopy& copy = allocation->copies[g];
    WL_CHECK_EQ(copy.group, static_cast<int>(g));
    WL_CHECK_EQ(copy.from, a.tables[g].blocks[5]);
    WL_CHECK_EQ(copy.to, b.tables[g].blocks[5]);
    WL_CHECK_EQ(copy.num_slots, 2);
  }
  const SequenceBlocks* all[] = {&a, &b};
  kv.check_integrity(all);
}

WL_TEST("kv window: a fork where the window has passed has hashes and no blocks") {
  KvCacheManager kv = make_manager(64, 16);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(43), 0, 4);
  const uint64_t num_hashed = kv.num_hashed_tokens();
  SequenceBlocks near = kv.fork(a, 41), far = kv.fork(a, 20);
  WL_CHECK(!near.is_empty());
  WL_CHECK(far.is_empty());
  WL_CHECK_EQ(far.hashes.size(), size_t{5});
  WL_CHECK_EQ(kv.num_hashed_tokens(), num_hashed);
  const SequenceBlocks* all[] = {&a, &near, &far};
  kv.check_integrity(all);
}

WL_TEST("kv window: the ends of earlier turns outlive the blocks that were only passed") {
  KvCacheManager kv = make_manager(64, 16);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(30), 0, 4);
  kv.mark_branch_point(a, 30);
  compute(kv, a, range(140), 30, 4);  // reuses each block several times
  WL_CHECK_EQ(lookup(kv, range(140)), 136);
  WL_CHECK_EQ(lookup(kv, range(31)), 28);
  WL_CHECK_EQ(lookup(kv, range(60)), 32);
  WL_CHECK_EQ(lookup(kv, range(28)), 0);
}

WL_TEST("kv window: a hit keeps the window that it used") {
  KvCacheManager kv = make_manager(64, 16);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(30), 0, 30);
  kv.free(a);
  Tokens branch = range(20);
  branch.resize(140, 99);
  SequenceBlocks b = kv.new_sequence();
  kv.extend_hashes(b, branch);
  WL_CHECK_EQ(kv.lookup(b, 140), 20);
  kv.attach(b, 20);
  compute(kv, b, branch, 20, 4);
  Tokens other = range(20);
  other.resize(40, 55);
  WL_CHECK_EQ(lookup(kv, other), 20);
}

WL_TEST("kv window: a sequence cannot be cut to a length whose window it gave back") {
  KvCacheManager kv = make_manager(32, 32);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(40), 0, 8);
  kv.trim(a, 40);
  bool is_refused = false;
  try {
    kv.trim(a, 20);
  } catch (const std::exception&) {
    is_refused = true;
  }
  WL_CHECK(is_refused);
}

WL_TEST("kv window: discarded sequences cannot be hit, in the window or before it") {
  KvCacheManager kv = make_manager(32, 32);
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(40), 0, 8);
  kv.discard(a);
  for (int g = 0; g < 2; ++g) WL_CHECK_EQ(kv.group(g).num_cached(), 0);
  WL_CHECK_EQ(lookup(kv, range(40)), 0);
}

WL_TEST("kv window: a model with windows only finds its prefix by the window alone") {
  KvCacheManager kv({{{8, 4}}, kBlockSize, "model", true});
  SequenceBlocks a = kv.new_sequence();
  compute(kv, a, range(400), 0, 4);
  kv.free(a);
  WL_CHECK_EQ(lookup(kv, range(500)), 400);
  WL_CHECK_EQ(lookup(kv, range(350)), 0);
}
