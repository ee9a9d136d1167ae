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
  const float* bias_or_null() const { return bias.empty() ? nullptr : bias.data(); }
  bool is_quantized() const { return backend::is_quantized(weight.form); }
};

struct DecoderLayer {
  std::vector<float> attn_norm;  // [hidden]
  Linear q, k, v;                // [heads * head_dim, hidden], [kv_heads * head_dim, hidden] twice
  Linear attn_output;            // [hidden, heads * head_dim]
  std::vector<float> ffn_norm;   // [hidden]
  Linear ffn_gate, ffn_up;       // [ffn, hidden]
  Linear ffn_down;               // [hidden, ffn]
};

struct DecoderWeights {
  ModelConfig config;
  backend::Weight embedding;  // [vocab, hidden]
  std::vector<DecoderLayer> layers;
  std::vector<float> output_norm;  // [hidden]
  Linear head;                     // [vocab, hidden]; the embedding's own panels when tied
  AlignedBuffer panels;            // all packed matrices
};

/// Opens the checkpoint, checks every tensor and packs. The file mapping is gone afterwards.
/// Errors: ERR_MODEL_*.
Result<std::shared_ptr<const DecoderWeights>> load_decoder_weights(const std::string& path,
                                                                   backend::Backend& backend);

}  // namespace wl::models
