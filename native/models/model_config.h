#pragma once
// What a decoder computes: its sizes and its features, read from GGUF keys or from an HF
// config.json and checked: every number is in a range that the engine can run, and every setting
// that changes the arithmetic is one that it computes. What architectures say of themselves:
// arch/architecture.h.

#include <string>
#include <vector>

#include "backend/ops.h"
#include "base/result.h"
#include "loader/model_file.h"

namespace wl::models {

enum class RopePairing { kAdjacent, kHalves };  // (x[2i], x[2i+1]) or (x[i], x[i + rot/2])

/// How positions turn into angles. `inv_freq` has every scaling applied that does not depend on the
/// engine's context (none, linear, llama3, yarn): angle = float(position) * inv_freq[i].
struct RopeConfig {
  RopePairing pairing = RopePairing::kHalves;
  int rotary_dims = 0;
  std::vector<float> inv_freq;   // [rotary_dims / 2]
  float magnitude = 1.0f;        // multiplies cosines and sines (yarn, longrope)
  std::string scaling = "none";  // what `inv_freq` has applied, for messages: "none", "llama3", ...
  /// longrope: `inv_freq` is unscaled, and the factors that divide it are chosen by the engine's
  /// context: long ones when it exceeds `original_context`. Empty: no longrope.
  std::vector<float> long_factors, short_factors;  // [rotary_dims / 2]
  int original_context = 0;
};

using backend::ExpertRule;
using backend::MlpActivation;

enum class QkNorm { kNone, kPerHead, kWholeWidth };

struct MoeConfig {
  int num_experts = 0;  // 0: a dense model
  int num_used = 0;     // experts a token
  int ffn = 0;          // inner size of one expert
  ExpertRule rule = ExpertRule::kSoftmaxThenTopNormalized;
};

struct LayerConfig {
  int window = 0;  // keys that a query sees, its own included; 0: all before it
  int rope = 0;    // index into ModelConfig::ropes, or kNoRope
  bool is_moe = false;
};
constexpr int kNoRope = -1;

/// A decoder as the core computes it. What an architecture does not have keeps its neutral value,
/// so that one forward pass serves all (models/decoder.h).
struct ModelConfig {
  std::string arch;  // GGUF's name of it: "llama", "qwen2", "gemma3", "gpt-oss", ...
  int num_layers = 0;
  int hidden = 0;  // embedding length
  int ffn = 0;     // MLP inner size of dense layers
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_dim = 0;  // of q, k and v
  int vocab = 0;
  int context = 0;  // trained context length, tokens
  float norm_eps = 0;
  bool is_tied = false;         // the head is the embedding
  bool has_pre_norms = true;    // attn_norm, ffn_norm before the sub-layers (olmo2: none)
  bool has_post_norms = false;  // post_attention_norm, post_ffw_norm before the residual add
  bool norm_adds_one = false;   // the file stores w of x * (1 + w): added once, at load
  QkNorm qk_norm = QkNorm::kNone;
  bool has_sinks = false;  // one learned score a head joins the softmax' denominator
  MlpActivation activation = MlpActivation::kSilu;
  float swiglu_limit = 7.0f;        // of kClampedSwiglu
  float embedding_scale = 1.0f;     // x = scale * embed(t)
  float residual_scale = 1.0f;      // x += scale * sub_layer(x)
  float attention_scale = 0;        // scores = scale * q k; always set
  float logits_divisor = 1.0f;      // logits / divisor
  float final_softcap = 0;          // logits = c tanh(logits / c); 0: off
  std::vector<RopeConfig> ropes;    // one, or one for each kind of layer
  std::vector<LayerConfig> layers;  // [num_layers]
  MoeConfig moe;
};

/// A configuration and all that is wrong with it; it is usable only when nothing is.
struct ConfigReading {
  ModelConfig config;  // arch is empty when the checkpoint does not get as far as naming one
  std::vector<Error> problems;
};

/// Reads and checks the configuration, and collects every problem that can be told from the others.
ConfigReading check_model_config(const loader::ModelFile& file);

/// Errors, the first problem: ERR_MODEL_ARCH (an architecture, rope type or setting that this build
/// does not compute, by name), ERR_MODEL_FORMAT (missing or absurd value, with key and value),
/// ERR_MODEL_TENSOR, ERR_MODEL_TYPE (tables of rope factors).
Result<ModelConfig> read_model_config(const loader::ModelFile& file);

}  // namespace wl::models
