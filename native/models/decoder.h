#pragma once
// The forward pass of a decoder-only transformer: one core for every architecture, which differ by
// declared features in ModelConfig and by which weights are there. Calls Ops and nothing else.
//
//   x = embed(t);  per layer: x += O(attn(norm(x)));  x += down(silu(gate(norm(x))) * up(norm(x)))
//   logits = head(norm(x)) for the rows that are asked for
// Used by one engine thread.

#include <memory>
#include <vector>

#include "models/decoder_weights.h"

namespace wl::models {

/// Tokens of one step, sequences end to end.
struct DecoderInput {
  int num_tokens = 0;
  const int32_t* token_ids = nullptr;     // [num_tokens]
  const int32_t* slot_mapping = nullptr;  // [num_tokens]
  backend::AttentionBatch attention;      // positions are of all tokens
  int num_logits = 0;
  const int32_t* logit_rows = nullptr;  // [num_logits] ascending token indices
};

class Decoder {
 public:
  /// Both outlive the decoder.
  Decoder(const DecoderWeights& weights, backend::Ops& ops);

  /// Fills `cache` at the tokens' slots and writes logits [num_logits, vocab].
  void forward(const DecoderInput& input, const backend::KvCache& cache, float* logits);

 private:
  void reserve(int num_tokens);
  void rotate(const DecoderInput& input);
  void attention(const DecoderLayer& layer, int index, const DecoderInput& input,
                 const backend::KvCache& cache);
  void feed_forward(const DecoderLayer& layer, int num_tokens);
  void head(const DecoderInput& input, float* logits);
  backend::Matrix rows(std::vector<float>& buffer, int num_rows, int cols) const {
    return {buffer.data(), num_rows, cols};
  }

  const DecoderWeights& weights_;
  const ModelConfig& config_;
  backend::Ops& ops_;
  std::vector<float> inv_freq_;      // [rotary_dims / 2], scaling applied
  int capacity_ = 0;                 // tokens that the buffers hold
  std::vector<float> x_, normed_;    // [tokens, hidden]
  std::vector<float> q_, attended_;  // [tokens, heads * head_dim]
  std::vector<float> k_, v_;         // [tokens, kv_heads * head_dim]
  std::vector<float> projected_;     // [tokens, hidden]
  std::vector<float> gate_, up_;     // [tokens, ffn]
  std::vector<float> cos_, sin_;     // [tokens, rotary_dims / 2]
};

}  // namespace wl::models
