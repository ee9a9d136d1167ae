// Random operations on the KV bookkeeping with one group and with several: every sequence reads its
// own tokens through its block tables, and holds no block that its windows have passed.

#include <algorithm>
#include <random>

#include "check.h"
#include "kv/kv_cache_manager.h"

using namespace wl::kv;

using Tokens = std::vector<int32_t>;

namespace {

constexpr int kBlockSize = 4;

/// A sequence, and how many of its tokens are in the cache.
struct Tracked {
  SequenceBlocks blocks;
  Tokens tokens;
  int num_computed = 0;

  int num_tokens() const { return static_cast<int>(tokens.size()); }
};

/// `written_` is the content of every slot, as a model runner would have it.
class RandomOperations {
 public:
  RandomOperations(unsigned seed, const std::vector<KvGroupConfig>& groups)
      : rng_(seed), configs_(groups), kv_({groups, kBlockSize, "test-model", true}) {
    for (const KvGroupConfig& group : groups) {
      written_.emplace_back(static_cast<size_t>(group.num_blocks * kBlockSize));
    }
  }

  void run(int num_operations) {
    for (int i = 0; i < num_operations; ++i) {
      one_operation();
      check();
    }
    for (Tracked& tracked : sequences_) kv_.free(tracked.blocks);
    for (int g = 0; g < kv_.num_groups(); ++g) {
      WL_CHECK_EQ(kv_.group(g).num_free(), kv_.group(g).num_blocks());
    }
  }

  static inline int num_hits = 0;

 private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(rng_() % n); }

  void one_operation() {
    const unsigned choice = pick(6);
    if (choice == 0 || sequences_.empty()) {
      admit();
      return;
    }
    const size_t idx = pick(static_cast<unsigned>(sequences_.size()));
    if (choice < 4) {
      extend(sequences_[idx]);
    } else if (choice == 4 && sequences_.size() < 6) {
      sequences_.push_back(forked(sequences_[idx]));
    } else {
      pick(8) == 0 ? kv_.discard(sequences_[idx].blocks) : kv_.free(sequences_[idx].blocks);
      sequences_.erase(sequences_.begin() + static_cast<std::ptrdiff_t>(idx));
    }
  }

  Tracked forked(const Tracked& source) {
    const int num_tokens =
        source.tokens.empty() || pick(2) == 0
            ? source.num_tokens()
            : 1 + static_cast<int>(pick(static_cast<unsigned>(source.num_tokens())));
    Tracked fork{kv_.fork(source.blocks, num_tokens),
                 {source.tokens.begin(), source.tokens.begin() + num_tokens},
                 num_tokens};
    if (fork.blocks.is_empty()) fork.num_computed = 0;
    return fork;
  }

  /// Few distinct tokens, so that prefixes coincide often.
  void admit() {
    Tracked tracked{kv_.new_sequence(), {}, 0};
    for (unsigned n = 1 + pick(40); n > 0; --n) {
      tracked.tokens.push_back(static_cast<int32_t>(pick(16) == 0 ? 1 : 0));
    }
    kv_.extend_hashes(tracked.blocks, tracked.tokens);
    const int num_hit = kv_.lookup(tracked.blocks, tracked.num_tokens());
    WL_CHECK_EQ(num_hit, longest_hit(tracked));
    num_hits += num_hit > 0;
    kv_.attach(tracked.blocks, num_hit);
    kv_.mark_branch_point(tracked.blocks, tracked.num_tokens());
    tracked.num_computed = num_hit;
    sequences_.push_back(tracked);
    if (!compute_rest(sequences_.back())) {
      kv_.free(sequences_.back().blocks);
      sequences_.pop_back();
    }
  }

  /// By trying all lengths.
  int longest_hit(const Tracked& tracked) const {
    for (int n = (tracked.num_tokens() - 1) / kBlockSize; n > 0; --n) {
      bool is_hit = true;
      for (int g = 0; g < kv_.num_groups(); ++g) {
        const int window = configs_[static_cast<size_t>(g)].window;
        for (int i = 0; i < n; ++i) {
          const bool is_read = window == 0 || (i + 1) * kBlockSize > n * kBlockSize - (window - 1);
          const BlockHash& hash = tracked.blocks.hashes[static_cast<size_t>(i)];
          if (is_read && !kv_.group(g).is_cached(hash)) is_hit = false;
        }
      }
      if (is_hit) return n * kBlockSize;
    }
    return 0;
  }

  void extend(Tracked& tracked) {
    for (unsigned n = 1 + pick(6); n > 0; --n) {
      tracked.tokens.push_back(static_cast<int32_t>(pick(2)));
    }
    if (compute_rest(tracked)) return;
    kv_.trim(tracked.blocks, tracked.num_computed);
    tracked.tokens.resize(static_cast<size_t>(tracked.num_computed));
    tracked.blocks.hashes.resize(
        std::min(tracked.blocks.hashes.size(), tracked.tokens.size() / kBlockSize));
  }

  /// In chunks of random sizes. False: no room for one of them.
  bool compute_rest(Tracked& tracked) {
    while (tracked.num_computed < tracked.num_tokens()) {
      const int num_left = tracked.num_tokens() - tracked.num_computed;
      const int end = tracked.num_computed + 1 + static_cast<int>(pick(num_left));
      const auto allocation =
          kv_.allocate_slots(tracked.blocks, {tracked.num_computed, end, tracked.num_tokens()});
      if (!allocation) return false;
      for (const BlockCopy& copy : allocation->copies) {
        auto& slots = written_[static_cast<size_t>(copy.group)];
        std::copy_n(slots.begin() + copy.from * kBlockSize, copy.num_slots,
                    slots.begin() + copy.to * kBlockSize);
      }
      for (int g = 0; g < kv_.num_groups(); ++g) {
        for (int position = tracked.num_computed; position < end; ++position) {
          slot(tracked, g, position) = tracked.tokens[static_cast<size_t>(position)];
        }
      }
      tracked.num_computed = end;
      kv_.commit(tracked.blocks, tracked.tokens, end);
    }
    return true;
  }

  int32_t& slot(const Tracked& tracked, int group, int position) {
    const BlockTable& table = tracked.blocks.tables[static_cast<size_t>(group)];
    const BlockId id = table.blocks[static_cast<size_t>(position / kBlockSize)];
    return written_[static_cast<size_t>(group)].at(
        static_cast<size_t>(id * kBlockSize + position % kBlockSize));
  }

  void check() {
    std::vector<const SequenceBlocks*> all;
    for (const Tracked& tracked : sequences_) all.push_back(&tracked.blocks);
    kv_.check_integrity(all);
    for (const Tracked& tracked : sequences_) {
      for (int g = 0; g < kv_.num_groups(); ++g) {
        const int window = configs_[static_cast<size_t>(g)].window;
        const int boundary = tracked.num_computed / kBlockSize * kBlockSize;
        const int first = window == 0 ? 0 : std::max(0, boundary - (window - 1));
        WL_CHECK_EQ(tracked.blocks.tables[static_cast<size_t>(g)].first_held, first / kBlockSize);
        for (int position = first; position < tracked.num_computed; ++position) {
          WL_CHECK_EQ(slot(tracked, g, position), tracked.tokens[static_cast<size_t>(position)]);
        }
      }
    }
  }

  std::mt19937 rng_;
  const std::vector<KvGroupConfig> configs_;
  KvCacheManager kv_;
  std::vector<std::vector<int32_t>> written_;  // by group
  std::vector<Tracked> sequences_;
};

}  // namespace

WL_TEST("kv: after random operations every sequence reads its own tokens") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const int n = 8 + static_cast<int>(seed % 20);
    std::vector<KvGroupConfig> groups = {{0, 2 * n}};
    if (seed % 4 == 1) groups = {{0, 3 * n}, {6, n}};
    if (seed % 4 == 2) groups = {{0, 2 * n}, {9, n}, {2, 2 * n}};
    if (seed % 4 == 3) groups = {{7, n}};
    RandomOperations(seed, groups).run(300);
  }
  WL_CHECK(RandomOperations::num_hits > 500);
}
