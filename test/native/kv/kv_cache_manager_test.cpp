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
  return KvCacheManager({num_blocks, 4, "test-model", enable_prefix_cache});
}

/// Allocates, "computes" and commits all tokens of a sequence that has no blocks yet.
static int compute(KvCacheManager& kv, SequenceBlocks& blocks, const Tokens& tokens) {
  kv.extend_hashes(blocks, tokens);
  const PrefixHit hit = kv.lookup(blocks, static_cast<int>(tokens.size()));
  kv.attach(blocks, hit);
  const int num_tokens = static_cast<int>(tokens.size());
  if (!kv.allocate_slots(blocks, hit.num_tokens, num_tokens)) {
    kv.free(blocks);
    return -1;
  }
  kv.commit(blocks, tokens, num_tokens);
  return hit.num_tokens;
}

WL_TEST("kv: a second prompt with the same prefix hits its whole blocks, never its last token") {
  KvCacheManager kv = make_manager(16);
  SequenceBlocks a, b, c;
  WL_CHECK_EQ(compute(kv, a, range(14)), 0);
  WL_CHECK_EQ(compute(kv, b, range(14)), 12);
  WL_CHECK_EQ(compute(kv, c, range(12)), 8);  // 3 full blocks, but one token must be computed
  WL_CHECK_EQ(a.table[2], b.table[2]);
  WL_CHECK(a.table[3] != b.table[3]);
  const SequenceBlocks* tables[] = {&a, &b, &c};
  kv.check_integrity(tables);
}

WL_TEST("kv: freed blocks stay hittable until they are reused, the tail first") {
  KvCacheManager kv = make_manager(4);
  SequenceBlocks a, b, c;
  compute(kv, a, range(16));
  kv.free(a);
  WL_CHECK_EQ(kv.num_free_blocks(), 4);
  WL_CHECK_EQ(kv.num_cached_blocks(), 4);
  compute(kv, b, Tokens{90, 91, 92, 93, 94});  // takes two blocks: the deepest of a
  WL_CHECK_EQ(kv.lookup(a, 16).num_tokens, 8);
  kv.free(b);
  WL_CHECK_EQ(compute(kv, c, range(9)), 8);
}

WL_TEST("kv: another tenant salt never hits") {
  KvCacheManager kv = make_manager(16);
  SequenceBlocks a, b, c;
  a.tenant_salt = "tenant-a";
  b.tenant_salt = "tenant-b";
  compute(kv, a, range(14));
  WL_CHECK_EQ(compute(kv, b, range(14)), 0);
  WL_CHECK_EQ(compute(kv, c, range(14)), 0);
}

WL_TEST("kv: an allocation that does not fit changes nothing") {
  KvCacheManager kv = make_manager(4);
  SequenceBlocks a;
  WL_CHECK(!kv.allocate_slots(a, 0, 17).has_value());
  WL_CHECK(!kv.allocate_slots(a, 0, 13, 1).has_value());
  WL_CHECK(a.table.empty());
  WL_CHECK_EQ(kv.num_free_blocks(), 4);
  WL_CHECK(kv.allocate_slots(a, 0, 16).has_value());
}

WL_TEST("kv: a fork shares all blocks, and whoever writes first copies the last one") {
  KvCacheManager kv = make_manager(8);
  SequenceBlocks a;
  compute(kv, a, range(6));
  SequenceBlocks b = kv.fork(a);
  WL_CHECK_EQ(kv.num_free_blocks(), 6);
  const auto allocation = kv.allocate_slots(a, 6, 7);
  WL_CHECK(allocation && allocation->copy);
  WL_CHECK_EQ(allocation->copy->from, b.table[1]);
  WL_CHECK_EQ(allocation->copy->to, a.table[1]);
  WL_CHECK_EQ(allocation->copy->num_slots, 2);
  WL_CHECK_EQ(a.table[0], b.table[0]);
  WL_CHECK(!kv.allocate_slots(b, 6, 7)->copy.has_value());  // it is the only holder now
  const SequenceBlocks* tables[] = {&a, &b};
  kv.check_integrity(tables);
}

WL_TEST("kv: a sequence that computed the same block itself keeps a private duplicate") {
  KvCacheManager kv = make_manager(8);
  SequenceBlocks a, b;
  kv.extend_hashes(a, range(8));
  kv.extend_hashes(b, range(8));
  WL_CHECK(kv.allocate_slots(a, 0, 8) && kv.allocate_slots(b, 0, 8));
  kv.commit(a, range(8), 8);
  kv.commit(b, range(8), 8);
  WL_CHECK(a.table[0] != b.table[0]);
  WL_CHECK_EQ(kv.num_cached_blocks(), 2);
  kv.free(b);
  const SequenceBlocks* tables[] = {&a, &b};
  kv.check_integrity(tables);
}

WL_TEST("kv: discarded blocks cannot be hit") {
  KvCacheManager kv = make_manager(8);
  SequenceBlocks a, b;
  compute(kv, a, range(14));
  kv.discard(a);
  WL_CHECK_EQ(kv.num_cached_blocks(), 0);
  WL_CHECK_EQ(compute(kv, b, range(14)), 0);
}

WL_TEST("kv: without the prefix cache nothing is hashed and nothing hits") {
  KvCacheManager kv = make_manager(8, false);
  SequenceBlocks a, b;
  compute(kv, a, range(14));
  WL_CHECK_EQ(compute(kv, b, range(14)), 0);
  WL_CHECK_EQ(kv.num_hashed_tokens(), uint64_t{0});
}

namespace {

/// A sequence of the random test, and a model of what its blocks must contain.
struct Tracked {
  SequenceBlocks blocks;
  Tokens tokens;
  int num_computed = 0;
};

/// Runs random operations; `written` is the content of every slot, as a model runner would have it.
class RandomOperations {
 public:
  RandomOperations(unsigned seed, int num_blocks)
      : rng_(seed), kv_(make_manager(num_blocks)), written_(static_cast<size_t>(num_blocks) * 4) {}

  void run(int num_operations) {
    for (int i = 0; i < num_operations; ++i) {
      one_operation();
      check();
    }
    for (Tracked& tracked : sequences_) kv_.free(tracked.blocks);
    WL_CHECK_EQ(kv_.num_free_blocks(), kv_.num_blocks());
  }

 private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(rng_() % n); }

  void one_operation() {
    const unsigned choice = pick(6);
    if (choice == 0 || sequences_.empty()) {
      admit();
    } else if (choice < 4) {
      extend(sequences_[pick(static_cast<unsigned>(sequences_.size()))]);
    } else {
      const size_t idx = pick(static_cast<unsigned>(sequences_.size()));
      if (choice == 4 && sequences_.size() < 6) {
        Tracked& source = sequences_[idx];
        Tracked fork{kv_.fork(source.blocks), source.tokens, source.num_computed};
        sequences_.push_back(std::move(fork));
      } else {
        pick(8) == 0 ? kv_.discard(sequences_[idx].blocks) : kv_.free(sequences_[idx].blocks);
        sequences_.erase(sequences_.begin() + static_cast<std::ptrdiff_t>(idx));
      }
    }
  }

  /// Few distinct tokens, so that prefixes coincide often.
  void admit() {
    Tracked tracked;
    for (unsigned n = 1 + pick(20); n > 0; --n) {
      tracked.tokens.push_back(static_cast<int32_t>(pick(8) == 0 ? 1 : 0));
    }
    kv_.extend_hashes(tracked.blocks, tracked.tokens);
    const PrefixHit hit = kv_.lookup(tracked.blocks, static_cast<int>(tracked.tokens.size()));
    kv_.attach(tracked.blocks, hit);
    tracked.num_computed = hit.num_tokens;
    sequences_.push_back(tracked);
    if (!compute_rest(sequences_.back())) {
      kv_.free(sequences_.back().blocks);
      sequences_.pop_back();
    }
  }

  void extend(Tracked& tracked) {
    const size_t old_size = tracked.tokens.size();
    for (unsigned n = 1 + pick(6); n > 0; --n) {
      tracked.tokens.push_back(static_cast<int32_t>(pick(2)));
    }
    if (!compute_rest(tracked)) tracked.tokens.resize(old_size);
  }

  bool compute_rest(Tracked& tracked) {
    const int num_tokens = static_cast<int>(tracked.tokens.size());
    const auto allocation = kv_.allocate_slots(tracked.blocks, tracked.num_computed, num_tokens);
    if (!allocation) return false;
    if (allocation->copy) {
      const auto from = written_.begin() + allocation->copy->from * 4;
      std::copy_n(from, allocation->copy->num_slots, written_.begin() + allocation->copy->to * 4);
    }
    for (int position = tracked.num_computed; position < num_tokens; ++position) {
      slot(tracked, position) = tracked.tokens[static_cast<size_t>(position)];
    }
    tracked.num_computed = num_tokens;
    kv_.commit(tracked.blocks, tracked.tokens, num_tokens);
    return true;
  }

  int32_t& slot(const Tracked& tracked, int position) {
    const BlockId id = tracked.blocks.table[static_cast<size_t>(position / 4)];
    return written_[static_cast<size_t>(id * 4 + position % 4)];
  }

  /// Integrity, and every sequence still reads its own tokens through its block table.
  void check() {
    std::vector<const SequenceBlocks*> tables;
    for (const Tracked& tracked : sequences_) tables.push_back(&tracked.blocks);
    kv_.check_integrity(tables);
    for (const Tracked& tracked : sequences_) {
      for (int position = 0; position < tracked.num_computed; ++position) {
        WL_CHECK_EQ(slot(tracked, position), tracked.tokens[static_cast<size_t>(position)]);
      }
    }
  }

  std::mt19937 rng_;
  KvCacheManager kv_;
  std::vector<int32_t> written_;
  std::vector<Tracked> sequences_;
};

}  // namespace

WL_TEST("kv: after random operations every sequence reads its own tokens") {
  for (unsigned seed = 0; seed < 20; ++seed) RandomOperations(seed, 6 + seed % 20).run(400);
}
