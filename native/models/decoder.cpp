#include "models/decoder.h"

namespace wl::models {

using backend::Matrix;

Decoder::Decoder(const DecoderWeights& weights, int context, backend::Ops& ops)
    : weights_(weights),
      config_(weights.config),
      kv_layout_(kv_layout(weights.config)),
      ops_(ops),
      ropes_(config_, context),
      attention_(config_, ropes_, ops),
      mlp_(config_, ops),
      moe_(config_, ops) {}

void Decoder::embed(Matrix x, const int32_t* token_ids) {
  ops_.embed(x, weights_.embedding, token_ids);
  if (config_.embedding_scale != 1) ops_.scale(x, config_.embedding_scale);
}

Matrix Decoder::sub_layer_input(Matrix x, const std::vector<float>& norm) {
  if (norm.empty()) return x;
  const Matrix normed = normed_.rows(x.rows, x.cols);
  ops_.rms_norm(normed, x, norm.data(), config_.norm_eps);
  return normed;
}

void Decoder::add_sub_layer(Matrix x, Matrix out, const std::vector<float>& post_norm) {
  if (!post_norm.empty()) ops_.rms_norm(out, out, post_norm.data(), config_.norm_eps);
  ops_.add(x, out, config_.residual_scale);
}

void Decoder::layer(Matrix x, size_t layer_idx, const DecoderInput& input,
                    std::span<const backend::KvCache> caches) {
  const DecoderLayer& layer = weights_.layers[layer_idx];
  const LayerConfig& config = config_.layers[layer_idx];
  const KvPlace place = kv_layout_.places[layer_idx];
  const auto group = static_cast<size_t>(place.group);
  const Matrix out = sub_layer_out_.rows(x.rows, x.cols);

  attention_.forward(out, sub_layer_input(x, layer.attn_norm), layer.attention, config, input,
                     {caches[group], input.groups[group], place.layer});
  add_sub_layer(x, out, layer.post_attention_norm);

  const Matrix mlp_input = sub_layer_input(x, layer.ffn_norm);
  if (config.is_moe) {
    moe_.forward(out, mlp_input, layer.moe);
  } else {
    mlp_.forward(out, mlp_input, layer.mlp);
  }
  add_sub_layer(x, out, layer.post_ffw_norm);
}

void Decoder::head(Matrix x, const DecoderInput& input, float* logits) {
  if (input.num_logits == 0) return;
  // Gather first: the head is the largest matrix, and most rows of a prefill need no logits.
  const Matrix normed = normed_.rows(input.num_logits, x.cols);
  ops_.gather_rows(normed, x, input.logit_rows);
  ops_.rms_norm(normed, normed, weights_.output_norm.data(), config_.norm_eps);
  const Matrix out{logits, input.num_logits, config_.vocab};
  ops_.linear(weights_.head.product(out, ops_.prepare_input(normed, weights_.head.is_quantized())));
  if (config_.logits_divisor != 1) ops_.scale(out, 1 / config_.logits_divisor);
  if (config_.final_softcap != 0) ops_.soft_cap(out, config_.final_softcap);
}

void Decoder::forward(const DecoderInput& input, std::span<const backend::KvCache> caches,
                      float* logits) {
  const Matrix x = x_.rows(input.num_tokens, config_.hidden);
  embed(x, input.token_ids);
  ropes_.set_positions(input.positions, input.num_tokens);
  for (size_t l = 0; l < weights_.layers.size(); ++l) layer(x, l, input, caches);
  head(x, input, logits);
}

}  // namespace wl::models
