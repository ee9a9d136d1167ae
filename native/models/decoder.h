#pragma once
// The forward pass of a decoder-only transformer: one core for every architecture, which differ by
// declared features in ModelConfig and by which weights are there. Calls Ops and nothing else.
//
//   x = e * embed(t)
//   per layer:  x += r * post(attention(pre(x)));  x += r * post(mlp(pre(x)))
//   logits = head(norm(x)) / d, soft-capped, for the rows that are asked for
// where pre and post are norms or nothing, e, r and d constants, and the MLP is dense or a mixture
// of experts (models/layers). Used by one engine thread.

#include <span>
#include <vector>

#include "models/decoder_input.h"
#include "models/decoder_weights.h"
#include "models/kv_layout.h"
#include "models/layers/attention_block.h"
#include "models/layers/buffer.h"
#include "models/layers/gated_mlp.h"
#include "models/layers/moe_block.h"
#include "models/layers/rope_tables.h"

namespace wl::models {

class Decoder {
 public:
  /// `weights` and `ops` outlive the decoder; `context` is the longest sequence of its engine,
  /// tokens (it chooses the factors of a longrope).
  Decoder(const DecoderWeights& weights, int context, backend::Ops& ops);
  Decoder(const Decoder&) = delete;  // its parts refer to each other
  Decoder& operator=(const Decoder&) = delete;

  /// Fills the caches, one for each KV group, at the tokens' slots and writes logits
  /// [num_logits, vocab].
  void forward(const DecoderInput& input, std::span<const backend::KvCache> caches, float* logits);

 private:
  void embed(backend::Matrix x, const int32_t* token_ids);
  void layer(backend::Matrix x, size_t layer_idx, const DecoderInput& input,
             std::span<const backend::KvCache> caches);
  /// What a sub-layer reads: norm(x), or x itself where the model has no norm there.
  backend::Matrix sub_layer_input(backend::Matrix x, const std::vector<float>& norm);
  /// x += r * post(out).
  void add_sub_layer(backend::Matrix x, backend::Matrix out, const std::vector<float>& post_norm);
  void head(backend::Matrix x, const DecoderInput& input, float* logits);

  const DecoderWeights& weights_;
  const ModelConfig& config_;
  const KvLayout kv_layout_;
  backend::Ops& ops_;
  RopeTables ropes_;
  AttentionBlock attention_;
  GatedMlp mlp_;
  MoeBlock moe_;
  Buffer x_, normed_, sub_layer_out_;  // [tokens, hidden]
};

}  // namespace wl::models
