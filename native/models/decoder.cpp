#include "models/decoder.h"

#include <algorithm>
#include <cmath>

namespace wl::models {

using backend::LinearInput;
using backend::Matrix;

Decoder::Decoder(const DecoderWeights& weights, backend::Ops& ops)
    : weights_(weights),
      config_(weights.config),
      rope_(weights.config.ropes.front()),
      kv_layout_(kv_layout(weights.config)),
      ops_(ops) {}

void Decoder::reserve(int num_tokens) {
  if (num_tokens <= capacity_) return;
  capacity_ = num_tokens;
  const auto size = [&](int cols) { return static_cast<size_t>(num_tokens) * cols; };
  const int q_cols = config_.num_heads * config_.head_dim;
  const int kv_cols = config_.num_kv_heads * config_.head_dim;
  for (auto* buffer : {&x_, &normed_, &projected_}) buffer->resize(size(config_.hidden));
  for (auto* buffer : {&q_, &attended_}) buffer->resize(size(q_cols));
  for (auto* buffer : {&k_, &v_}) buffer->resize(size(kv_cols));
  for (auto* buffer : {&gate_, &up_}) buffer->resize(size(config_.ffn));
  for (auto* buffer : {&cos_, &sin_}) buffer->resize(size(rope_.rotary_dims / 2));
}

/// Cosines and sines of this step's positions, once for all layers.
void Decoder::rotate(const DecoderInput& input) {
  const size_t half = rope_.inv_freq.size();
  for (int t = 0; t < input.num_tokens; ++t) {
    const auto position = static_cast<float>(input.positions[t]);
    for (size_t i = 0; i < half; ++i) {
      const auto angle = static_cast<double>(position * rope_.inv_freq[i]);
      cos_[static_cast<size_t>(t) * half + i] = static_cast<float>(std::cos(angle));
      sin_[static_cast<size_t>(t) * half + i] = static_cast<float>(std::sin(angle));
    }
  }
}

void Decoder::attention(size_t layer_idx, const DecoderInput& input,
                        std::span<const backend::KvCache> caches) {
  const DecoderLayer& layer = weights_.layers[layer_idx];
  const KvPlace place = kv_layout_.places[layer_idx];
  const KvGroupInput& kv = input.groups[static_cast<size_t>(place.group)];
  const backend::KvCache& cache = caches[static_cast<size_t>(place.group)];
  const int n = input.num_tokens;
  const int kv_cols = config_.num_kv_heads * config_.head_dim;
  const Matrix x = rows(x_, n, config_.hidden);
  const Matrix normed = rows(normed_, n, config_.hidden);
  const Matrix q = rows(q_, n, config_.num_heads * config_.head_dim);
  const Matrix k = rows(k_, n, kv_cols), v = rows(v_, n, kv_cols);

  ops_.rms_norm(normed, x, layer.attn_norm.data(), config_.norm_eps);
  const bool quantize = layer.q.is_quantized() || layer.k.is_quantized() || layer.v.is_quantized();
  const LinearInput qkv_input = ops_.prepare_input(normed, quantize);
  ops_.linear(q, qkv_input, layer.q.weight, layer.q.bias_or_null());
  ops_.linear(k, qkv_input, layer.k.weight, layer.k.bias_or_null());
  ops_.linear(v, qkv_input, layer.v.weight, layer.v.bias_or_null());

  const bool is_adjacent = rope_.pairing == RopePairing::kAdjacent;
  for (const Matrix m : {q, k}) {
    ops_.rope(m, config_.head_dim, rope_.rotary_dims, is_adjacent, cos_.data(), sin_.data());
  }
  ops_.store_kv(cache, place.layer, k, v, kv.slot_mapping);
  const Matrix attended = rows(attended_, n, q.cols);
  backend::AttentionParams params;
  params.scale = config_.attention_scale;
  ops_.paged_attention(attended, q, cache, place.layer, params,
                       {input.num_seqs, input.cu_seqlens_q, input.positions, kv.block_tables,
                        kv.block_table_starts});

  const Matrix projected = rows(projected_, n, config_.hidden);
  ops_.linear(projected, ops_.prepare_input(attended, layer.attn_output.is_quantized()),
              layer.attn_output.weight, layer.attn_output.bias_or_null());
  ops_.add(x, projected);
}

void Decoder::feed_forward(const DecoderLayer& layer, int num_tokens) {
  const Matrix x = rows(x_, num_tokens, config_.hidden);
  const Matrix normed = rows(normed_, num_tokens, config_.hidden);
  const Matrix gate = rows(gate_, num_tokens, config_.ffn);
  const Matrix up = rows(up_, num_tokens, config_.ffn);

  ops_.rms_norm(normed, x, layer.ffn_norm.data(), config_.norm_eps);
  const bool quantize = layer.ffn_gate.is_quantized() || layer.ffn_up.is_quantized();
  const LinearInput mlp_input = ops_.prepare_input(normed, quantize);
  ops_.linear(gate, mlp_input, layer.ffn_gate.weight, layer.ffn_gate.bias_or_null());
  ops_.linear(up, mlp_input, layer.ffn_up.weight, layer.ffn_up.bias_or_null());
  ops_.gated_mlp(gate, up, {});

  const Matrix projected = rows(projected_, num_tokens, config_.hidden);
  ops_.linear(projected, ops_.prepare_input(gate, layer.ffn_down.is_quantized()),
              layer.ffn_down.weight, layer.ffn_down.bias_or_null());
  ops_.add(x, projected);
}

void Decoder::head(const DecoderInput& input, float* logits) {
  if (input.num_logits == 0) return;
  // Gather first: the head is the largest matrix, and most rows of a prefill need no logits.
  for (int i = 0; i < input.num_logits; ++i) {
    const Matrix x = rows(x_, input.num_tokens, config_.hidden);
    const float* from = x.row(input.logit_rows[i]);
    std::copy(from, from + config_.hidden, rows(normed_, i + 1, config_.hidden).row(i));
  }
  const Matrix normed = rows(normed_, input.num_logits, config_.hidden);
  ops_.rms_norm(normed, normed, weights_.output_norm.data(), config_.norm_eps);
  ops_.linear({logits, input.num_logits, config_.vocab},
              ops_.prepare_input(normed, weights_.head.is_quantized()), weights_.head.weight,
              weights_.head.bias_or_null());
}

void Decoder::forward(const DecoderInput& input, std::span<const backend::KvCache> caches,
                      float* logits) {
  reserve(input.num_tokens);
  ops_.embed(rows(x_, input.num_tokens, config_.hidden), weights_.embedding, input.token_ids);
  rotate(input);
  for (size_t l = 0; l < weights_.layers.size(); ++l) {
    attention(l, input, caches);
    feed_forward(weights_.layers[l], input.num_tokens);
  }
  head(input, logits);
}

}  // namespace wl::models
