#pragma once
// A model runner without a model, for tests of the engine. It has one layer for each KV group: the
// "KV" of a token is a hash of its state, and its next state a hash of all KV that the group's
// window shows it, read back through the block table. The logits of a row are a hash of its last
// state. So one wrong block id, slot, copy or stale block changes the output. It also refuses
// batches that no real runner could compute correctly, and blocks that were kept for nothing.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "engine/model_runner.h"

namespace wl::test {

constexpr int kToyVocab = 64;
constexpr int32_t kToyPoison = 63;  // its KV and all KV after it give logits that are not finite

inline uint64_t toy_mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr uint64_t kToyPoisoned = 0xdeadbeef;

/// What a token brings into the toy model.
inline uint64_t toy_embed(int32_t token, int position) {
  if (token == kToyPoison) return kToyPoisoned;
  return toy_mix(static_cast<uint64_t>(token), static_cast<uint64_t>(position));
}

/// The KV that a token with state x has in a group.
inline uint64_t toy_kv(uint64_t x, size_t group) {
  return x == kToyPoisoned ? kToyPoisoned : toy_mix(x, group);
}

/// State x after it has seen one more key.
inline uint64_t toy_attend(uint64_t x, uint64_t kv) {
  return x == kToyPoisoned || kv == kToyPoisoned ? kToyPoisoned : toy_mix(x, kv);
}

/// First key that a token sees.
inline int toy_first_key(int window, int position) {
  return window == 0 ? 0 : std::max(0, position - (window - 1));
}

/// The toy model without blocks, batches or caches. windows: one for each KV group.
class ToyModel {
 public:
  explicit ToyModel(std::vector<int> windows)
      : windows_(std::move(windows)), kv_(windows_.size()) {}

  int num_tokens() const { return num_tokens_; }
  /// The final state of one more token.
  uint64_t append(int32_t token) {
    const int position = num_tokens_++;
    uint64_t x = toy_embed(token, position);
    for (size_t g = 0; g < windows_.size(); ++g) {
      kv_[g].push_back(toy_kv(x, g));
      for (int key = toy_first_key(windows_[g], position); key <= position; ++key) {
        x = toy_attend(x, kv_[g][static_cast<size_t>(key)]);
      }
    }
    return x;
  }

 private:
  const std::vector<int> windows_;
  std::vector<std::vector<uint64_t>> kv_;
  int num_tokens_ = 0;
};

/// In [-8, 8); token kToyPoison is never the largest.
inline void toy_logits(uint64_t x, float* out) {
  for (int token = 0; token < kToyVocab; ++token) {
    const uint64_t bits = toy_mix(x, static_cast<uint64_t>(token)) >> 40;
    out[token] = static_cast<float>(bits) / (1 << 20) - 8.0f;
  }
  out[kToyPoison] = -9.0f;
  if (x == kToyPoisoned) out[7] = std::numeric_limits<float>::quiet_NaN();
}

class ToyRunner : public engine::ModelRunner {
 public:
  ToyRunner(int num_blocks, int block_size)
      : ToyRunner(std::vector<kv::KvGroupConfig>{{0, num_blocks}}, block_size) {}
  /// Windows of at least 2: each token reads the one before it.
  ToyRunner(std::vector<kv::KvGroupConfig> groups, int block_size)
      : groups_(std::move(groups)), block_size_(block_size) {
    for (const kv::KvGroupConfig& group : groups_) {
      slots_.emplace_back(static_cast<size_t>(group.num_blocks * block_size));
    }
  }

  Status forward(const engine::StepBatch& batch, float* logits) override {
    ++num_steps;
    if (fails_at_step == num_steps) return {ErrorCode::kInternal, "the toy device broke"};
    if (batch.groups.size() != groups_.size()) return {ErrorCode::kInternal, "wrong groups"};
    std::vector<uint64_t> states(batch.token_ids.size());
    std::vector<BlockUse> uses(groups_.size());
    for (size_t s = 0; s < static_cast<size_t>(batch.num_seqs()); ++s) {
      for (size_t g = 0; g < groups_.size(); ++g) {
        const std::string fault = check_blocks(batch, g, s, uses[g]);
        if (!fault.empty()) return {ErrorCode::kInternal, fault};
      }
      const std::string fault = compute(batch, s, states);
      if (!fault.empty()) return {ErrorCode::kInternal, fault};
    }
    for (const BlockUse& use : uses) {
      for (const int32_t block : use.written) {
        if (use.read.contains(block)) return {ErrorCode::kInternal, "a shared block is written"};
      }
    }
    num_tokens += batch.num_tokens();
    largest_batch = std::max(largest_batch, batch.num_tokens());
    for (const int32_t row : batch.logit_rows) {
      toy_logits(states[static_cast<size_t>(row)], logits);
      logits += kToyVocab;
    }
    const int num_rows = static_cast<int>(batch.logit_rows.size());
    num_logit_rows += num_rows;
    max_logit_rows = std::max(max_logit_rows, num_rows);
    return {};
  }

  void copy_block(int group, int32_t from, int32_t to, int num_slots) override {
    std::vector<Slot>& slots = slots_[static_cast<size_t>(group)];
    std::copy_n(slots.begin() + from * block_size_, num_slots, slots.begin() + to * block_size_);
    ++num_copies;
  }

  int vocab() const override { return kToyVocab; }
  int block_size() const override { return block_size_; }
  std::vector<kv::KvGroupConfig> kv_groups() const override { return groups_; }

  int num_steps = 0, num_tokens = 0, num_logit_rows = 0, num_copies = 0, largest_batch = 0,
      max_logit_rows = 0;
  int fails_at_step = 0;  // 0: never

 private:
  struct Slot {
    uint64_t kv = 0x5bad5bad;
    int32_t token = -1;
    uint64_t timeline = 0;  // hash of all tokens up to this one
  };
  struct BlockUse {
    std::set<int32_t> written, read;
  };
  struct Table {
    const int32_t* blocks;
    int size;
  };

  static Table table_of(const engine::StepBatch& batch, size_t g, size_t s) {
    const engine::KvGroupBatch& kv = batch.groups[g];
    return {kv.block_tables.data() + kv.block_table_starts[s],
            kv.block_table_starts[s + 1] - kv.block_table_starts[s]};
  }

  Slot& slot(const engine::StepBatch& batch, size_t g, size_t s, int position) {
    const int32_t block = table_of(batch, g, s).blocks[position / block_size_];
    return slots_[g][static_cast<size_t>(block * block_size_ + position % block_size_)];
  }

  /// Blocks that no token of the step reads are given back, all others are held: those before the
  /// first new token are read, the rest is written.
  std::string check_blocks(const engine::StepBatch& batch, size_t g, size_t s, BlockUse& use) {
    const Table table = table_of(batch, g, s);
    const auto first_token = static_cast<size_t>(batch.cu_seqlens_q[s]);
    const int begin = batch.positions[first_token];
    if (table.size != (batch.context_lens[s] + block_size_ - 1) / block_size_) {
      return "wrong block table size";
    }
    const int window = groups_[g].window;
    const int boundary = begin / block_size_ * block_size_;
    for (int i = 0; i < table.size; ++i) {
      const int32_t block = table.blocks[i];
      const int end = (i + 1) * block_size_;
      if (window > 0 && end <= boundary - (window - 1)) {
        if (block != -1) return "a block is held that the window has passed";
        continue;
      }
      if (block < 0 || block >= groups_[g].num_blocks) return "block id out of range";
      if (end <= begin) {
        use.read.insert(block);
      } else if (!use.written.insert(block).second) {
        return "two sequences write one block";
      }
    }
    return "";
  }

  /// One sequence of the batch.
  std::string compute(const engine::StepBatch& batch, size_t s, std::vector<uint64_t>& states) {
    const auto begin = static_cast<size_t>(batch.cu_seqlens_q[s]);
    const auto end = static_cast<size_t>(batch.cu_seqlens_q[s + 1]);
    if (begin >= end || batch.positions[end - 1] + 1 != batch.context_lens[s]) {
      return "wrong context length";
    }
    const std::string fault = check_timeline(batch, s, batch.positions[begin]);
    if (!fault.empty()) return fault;
    for (size_t i = begin; i < end; ++i) {
      const int position = batch.positions[i];
      if (position != batch.positions[begin] + static_cast<int>(i - begin)) {
        return "positions are not consecutive";
      }
      const int32_t token = batch.token_ids[i];
      uint64_t& x = states[i] = toy_embed(token, position);
      for (size_t g = 0; g < groups_.size(); ++g) {
        const int32_t block = table_of(batch, g, s).blocks[position / block_size_];
        if (batch.groups[g].slot_mapping[i] != block * block_size_ + position % block_size_) {
          return "slot mapping and block table disagree";
        }
        const uint64_t before = position == 0 ? 0 : slot(batch, g, s, position - 1).timeline;
        slot(batch, g, s, position) = {toy_kv(x, g), token, toy_mix(before, token_bits(token))};
        for (int key = toy_first_key(groups_[g].window, position); key <= position; ++key) {
          x = toy_attend(x, slot(batch, g, s, key).kv);
        }
      }
    }
    return "";
  }

  /// Every group must hold keys of one and the same token list, without a stale one in between.
  std::string check_timeline(const engine::StepBatch& batch, size_t s, int num_computed) {
    if (num_computed == 0) return "";
    const uint64_t timeline = slot(batch, 0, s, num_computed - 1).timeline;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (slot(batch, g, s, num_computed - 1).timeline != timeline) return "groups disagree";
      const int first = toy_first_key(groups_[g].window, num_computed);
      for (int position = first; position < num_computed; ++position) {
        const Slot& key = slot(batch, g, s, position);
        // The one before the first key may be gone.
        if (position == first && first > 0) continue;
        const uint64_t before = position == 0 ? 0 : slot(batch, g, s, position - 1).timeline;
        if (key.timeline != toy_mix(before, token_bits(key.token))) return "a key is stale";
      }
    }
    return "";
  }

  static uint64_t token_bits(int32_t token) { return static_cast<uint64_t>(token); }

  const std::vector<kv::KvGroupConfig> groups_;
  const int block_size_;
  std::vector<std::vector<Slot>> slots_;  // by group: [num_blocks, block_size]
};

}  // namespace wl::test
