#pragma once
// The weights of a decoder-only transformer, packed for one backend. Read-only once made; engines
// of the same process share them (models/weight_store.h).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/aligned_buffer.h"
#include "models/model_config.h"

namespace wl::models {

/// y = W x (+ b).
struct Linear {
  backend::Weight weight;
  std::vector<float> bias;  // [rows] or empty
  bool is_quantized() const { return backend::is_quantized(weight.form); }
  /// out [input.x.rows, rows].
  backend::Product product(backend::Matrix out, const backend::LinearInput& input) const {
    return {out, input, weight, bias.empty() ? nullptr : bias.data()};
  }
};

struct AttentionWeights {
  Linear q, k, v;                     // [heads * head_dim, hidden], [kv_heads * head_dim, hidden]
  std::vector<float> q_norm, k_norm;  // as ModelConfig::qk_norm, or empty
  std::vector<float> sinks;           // [heads] or empty
  Linear output;                      // [hidden, heads * head_dim]
  bool has_quantized_inputs() const {
    return q.is_quantized() || k.is_quantized() || v.is_quantized();
  }
};

struct GatedMlpWeights {
  Linear gate, up;  // [ffn, hidden]
  Linear down;      // [hidden, ffn]
  bool has_quantized_inputs() const { return gate.is_quantized() || up.is_quantized(); }
};

struct MoeWeights {
  Linear router;                         // [num_experts, hidden]
  std::vector<GatedMlpWeights> experts;  // [num_experts]
  bool has_quantized_inputs() const;
  bool has_quantized_downs() const;
};

/// Norms that the model does not have are empty.
struct DecoderLayer {
  std::vector<float> attn_norm, post_attention_norm;  // [hidden]
  AttentionWeights attention;
  std::vector<float> ffn_norm, post_ffw_norm;  // [hidden]
  GatedMlpWeights mlp;                         // of dense layers
  MoeWeights moe;                              // of layers with experts
};

struct DecoderWeights {
  ModelConfig config;
  backend::Weight embedding;  // [vocab, hidden]
  std::vector<DecoderLayer> layers;
  std::vector<float> output_norm;  // [hidden]
  Linear head;                     // [vocab, hidden]; the embedding's own panels when tied
  AlignedBuffer panels;            // all packed matrices
};

/// Opens the checkpoint, checks every tensor and packs; matrices are quantised on the way when
/// `quantization` names a type (models/load_quantization.h). The file mapping is gone afterwards.
/// Errors: ERR_MODEL_*.
Result<std::shared_ptr<const DecoderWeights>> load_decoder_weights(
    const std::string& path, std::optional<DType> quantization, backend::Backend& backend);

}  // namespace wl::models
