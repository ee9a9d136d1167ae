#include "models/layers/attention_block.h"

#include <array>

namespace wl::models {

using backend::LinearInput;
using backend::Matrix;

/// Norm of q or k before rotation, if the model has one: of each head, or over the whole width.
void AttentionBlock::normalize(Matrix heads, const std::vector<float>& weight) {
  if (config_.qk_norm == QkNorm::kNone) return;
  const int cols = config_.qk_norm == QkNorm::kPerHead ? config_.head_dim : heads.cols;
  const Matrix rows{heads.data, heads.rows * (heads.cols / cols), cols};
  ops_.rms_norm(rows, rows, weight.data(), config_.norm_eps);
}

void AttentionBlock::forward(Matrix out, Matrix x, const AttentionWeights& weights,
                             const LayerConfig& layer, const DecoderInput& input,
                             const KvAccess& kv) {
  const int q_cols = config_.num_heads * config_.head_dim;
  const int kv_cols = config_.num_kv_heads * config_.head_dim;
  const Matrix q = q_.rows(x.rows, q_cols), attended = attended_.rows(x.rows, q_cols);
  const Matrix k = k_.rows(x.rows, kv_cols), v = v_.rows(x.rows, kv_cols);
  const LinearInput qkv_input = ops_.prepare_input(x, weights.has_quantized_inputs());
  ops_.linear(std::array{weights.q.product(q, qkv_input), weights.k.product(k, qkv_input),
                         weights.v.product(v, qkv_input)});
  normalize(q, weights.q_norm);
  normalize(k, weights.k_norm);
  if (layer.rope != kNoRope) {
    ropes_.rotate(ops_, q, layer.rope);
    ropes_.rotate(ops_, k, layer.rope);
  }
  ops_.store_kv(kv.cache, kv.layer, k, v, kv.blocks.slot_mapping);
  const float* sinks = weights.sinks.empty() ? nullptr : weights.sinks.data();
  ops_.paged_attention(attended, q, kv.cache, kv.layer,
                       {config_.attention_scale, layer.window, sinks},
                       {input.num_seqs, input.cu_seqlens_q, input.positions, kv.blocks.block_tables,
                        kv.blocks.block_table_starts});
  ops_.linear(
      weights.output.product(out, ops_.prepare_input(attended, weights.output.is_quantized())));
}

}  // namespace wl::models
