#pragma once
// A model runner without a model, for tests of the engine. The "KV" of a slot is a hash of its
// token, its position and the KV of every earlier position, read back through the block table; the
// logits of a row are a hash of its KV. So one wrong block id, slot, copy or stale block changes
// the output. It also refuses batches that no real runner could compute correctly.

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

constexpr uint64_t kToyPoisonedKv = 0xdeadbeef;

/// KV of `token` at `position`, whose predecessors have the KV `previous`.
inline uint64_t toy_kv(int32_t token, int position, const std::vector<uint64_t>& previous) {
  uint64_t kv = toy_mix(static_cast<uint64_t>(token), static_cast<uint64_t>(position));
  bool is_poisoned = token == kToyPoison;
  for (const uint64_t earlier : previous) {
    kv = toy_mix(kv, earlier);
    is_poisoned |= earlier == kToyPoisonedKv;
  }
  return is_poisoned ? kToyPoisonedKv : kv;
}

/// In [-8, 8); token kToyPoison is never the largest.
inline void toy_logits(uint64_t kv, float* out) {
  for (int token = 0; token < kToyVocab; ++token) {
    const uint64_t bits = toy_mix(kv, static_cast<uint64_t>(token)) >> 40;
    out[token] = static_cast<float>(bits) / (1 << 20) - 8.0f;
  }
  out[kToyPoison] = -9.0f;
  if (kv == kToyPoisonedKv) out[7] = std::numeric_limits<float>::quiet_NaN();
}

class ToyRunner : public engine::ModelRunner {
 public:
  ToyRunner(int num_blocks, int block_size)
      : num_blocks_(num_blocks),
        block_size_(block_size),
        kv_(static_cast<size_t>(num_blocks * block_size), 0x5bad5bad) {}

  Status forward(const engine::StepBatch& batch, float* logits) override {
    ++num_steps;
    if (fails_at_step == num_steps) return {ErrorCode::kInternal, "the toy device broke"};
    std::set<int32_t> written_blocks, read_blocks;
    std::vector<uint64_t> new_kv(batch.token_ids.size());
    for (int s = 0; s < batch.num_seqs(); ++s) {
      const std::string fault =
          compute(batch, static_cast<size_t>(s), new_kv, written_blocks, read_blocks);
      if (!fault.empty()) return {ErrorCode::kInternal, fault};
    }
    for (const int32_t block : written_blocks) {
      if (read_blocks.contains(block)) return {ErrorCode::kInternal, "a shared block is written"};
    }
    num_tokens += batch.num_tokens();
    largest_batch = std::max(largest_batch, batch.num_tokens());
    for (const int32_t row : batch.logit_rows) {
      toy_logits(new_kv[static_cast<size_t>(row)], logits);
      logits += kToyVocab;
    }
    num_logit_rows += static_cast<int>(batch.logit_rows.size());
    return {};
  }

  void copy_block(int32_t from, int32_t to, int num_slots) override {
    for (int i = 0; i < num_slots; ++i) slot(to * block_size_ + i) = slot(from * block_size_ + i);
    ++num_copies;
  }

  int vocab() const override { return kToyVocab; }
  int block_size() const override { return block_size_; }
  int num_blocks() const override { return num_blocks_; }

  int num_steps = 0, num_tokens = 0, num_logit_rows = 0, num_copies = 0, largest_batch = 0;
  int fails_at_step = 0;  // 0: never

 private:
  uint64_t& slot(int32_t idx) { return kv_[static_cast<size_t>(idx)]; }

  /// One sequence of the batch. Blocks with tokens that are not new are read, others written.
  std::string compute(const engine::StepBatch& batch, size_t s, std::vector<uint64_t>& new_kv,
                      std::set<int32_t>& written_blocks, std::set<int32_t>& read_blocks) {
    const auto begin = static_cast<size_t>(batch.cu_seqlens_q[s]);
    const auto end = static_cast<size_t>(batch.cu_seqlens_q[s + 1]);
    const engine::KvGroupBatch& kv = batch.groups[0];
    const int32_t* table = kv.block_tables.data() + kv.block_table_starts[s];
    const int table_size = kv.block_table_starts[s + 1] - kv.block_table_starts[s];
    const int context = batch.context_lens[s];
    if (begin >= end || batch.positions[end - 1] + 1 != context) return "wrong context length";
    if (table_size != (context + block_size_ - 1) / block_size_) return "wrong block table size";

    const int first_written = batch.positions[begin] / block_size_;
    for (int i = 0; i < table_size; ++i) {
      if (table[i] < 0 || table[i] >= num_blocks_) return "block id out of range";
      if (i < first_written) {
        read_blocks.insert(table[i]);
      } else if (!written_blocks.insert(table[i]).second) {
        return "two sequences write one block";
      }
    }
    std::vector<uint64_t> previous;
    for (int position = 0; position < batch.positions[begin]; ++position) {
      previous.push_back(
          slot(table[position / block_size_] * block_size_ + position % block_size_));
    }
    for (size_t i = begin; i < end; ++i) {
      const int position = batch.positions[i];
      if (position != static_cast<int>(previous.size())) return "positions are not consecutive";
      const int expected = table[position / block_size_] * block_size_ + position % block_size_;
      if (kv.slot_mapping[i] != expected) return "slot mapping and block table disagree";
      new_kv[i] = toy_kv(batch.token_ids[i], position, previous);
      previous.push_back(new_kv[i]);
      slot(expected) = new_kv[i];
    }
    return "";
  }

  const int num_blocks_, block_size_;
  std::vector<uint64_t> kv_;  // [num_blocks, block_size]
};

}  // namespace wl::test
