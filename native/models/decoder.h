#pragma once
// The forward pass of a decoder-only transformer: one core for every architecture, which differ by
// declared features in ModelConfig and by which weights are there. Calls Ops and nothing else.
//
//   x = embed(t);  per layer: x += O(attn(norm(x)));  x += down(silu(gate(norm(x))) * up(norm(x)))
//   logits = head(norm(x)) for the rows that are asked for
// Used by one engine thread.

#include <memory>
#include <span>
#include <vector>

#include "models/decoder_weights.h"
#include "models/kv_layout.h"

namespace wl::models {

/// Where one KV group (kv_layout.h) keeps the tokens of a step.
struct KvGroupInput {
  const int32_t* slot_mapping = nullptr;        // [num_tokens]
  const int32_t* block_tables = nullptr;        // flat; sequence s starts at block_table_starts[s]
  const int32_t* block_table_starts = nullptr;  // [num_seqs + 1]
};

/// Tokens of one step, sequences end to end.
struct DecoderInput {
  int num_tokens = 0;
  int num_seqs = 0;
  const int32_t* token_ids = nullptr;     // [num_tokens]
  const int32_t* positions = nullptr;     // [num_tokens]
  const int32_t* cu_seqlens_q = nullptr;  // [num_seqs + 1]
  std::vector<KvGroupInput> groups;       // one for each KV group
  int num_logits = 0;
  const int32_t* logit_rows = nullptr;  // [num_logits] ascending token indices
};

class Decoder {
 public:
  /// Both outlive the decoder.
  Decoder(const DecoderWeights& weights, backend::Ops& ops);

  /// Fills the caches, one for each KV group, at the tokens' slots and writes logits
  /// [num_logits, vocab].
  void forward(const DecoderInput& input, std::span<const backend::KvCache> caches, float* logits);

 private:
  void reserve(int num_tokens);
  void rotate(const DecoderInput& input);
  void attention(size_t layer_idx, const DecoderInput& input,
                 std::span<const backend::KvCache> caches);
  void feed_forward(const DecoderLayer& layer, int num_tokens);
  void head(const DecoderInput& input, float* logits);
  backend::Matrix rows(std::vector<float>& buffer, int num_rows, int cols) const {
    return {buffer.data(), num_rows, cols};
  }

  const DecoderWeights& weights_;
  const ModelConfig& config_;
  const RopeConfig& rope_;
  const KvLayout kv_layout_;
  backend::Ops& ops_;
  int capacity_ = 0;                 // tokens that the buffers hold
  std::vector<float> x_, normed_;    // [tokens, hidden]
  std::vector<float> q_, attended_;  // [tokens, heads * head_dim]
  std::vector<float> k_, v_;         // [tokens, kv_heads * head_dim]
  std::vector<float> projected_;     // [tokens, hidden]
  std::vector<float> gate_, up_;     // [tokens, ffn]
  std::vector<float> cos_, sin_;     // [tokens, rotary_dims / 2]
};

}  // namespace wl::models
