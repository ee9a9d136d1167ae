#pragma once
// Hyperparameters of a decoder, read from GGUF keys or from HF config.json, and checked: every
// number is in a range that the engine can run. Source of keys: the two formats' own documentation.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loader/model_file.h"

namespace wl::models {

enum class RopePairing { kAdjacent, kHalves };  // (x[2i], x[2i+1]) or (x[i], x[i + rot/2])

/// Rotary embedding. `inv_freq_factors[i]` divides the i-th frequency (llama3 scaling, rope_freqs);
/// empty means no scaling. `linear_factor` divides every position.
struct RopeConfig {
  RopePairing pairing = RopePairing::kHalves;
  int rotary_dims = 0;
  double base = 10000.0;
  double linear_factor = 1.0;
  std::vector<float> inv_freq_factors;  // [rotary_dims / 2] or empty
};

struct ModelConfig {
  std::string arch;  // "llama", "qwen2"
  int num_layers = 0;
  int hidden = 0;  // embedding length
  int ffn = 0;     // MLP inner size
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_dim = 0;  // of q, k and v
  int vocab = 0;
  int context = 0;  // trained context length, tokens
  float norm_eps = 0;
  bool has_qkv_bias = false;
  bool is_tied = false;  // the head is the embedding
  RopeConfig rope;
};

/// Reads and checks the configuration.
/// Errors: ERR_MODEL_ARCH (unknown architecture or rope type, by name), ERR_MODEL_FORMAT (missing
/// or absurd value, with key and value).
Result<ModelConfig> read_model_config(const loader::ModelFile& file);

/// Tensors by their GGUF names ("blk.0.attn_q.weight", ...), whatever the container calls them.
/// Q and K rows keep the file's order; RopeConfig::pairing says how they rotate.
/// Errors: ERR_MODEL_TENSOR (missing, unknown, wrong shape), ERR_MODEL_TYPE (type out of scope).
Result<std::map<std::string, loader::TensorEntry>> map_weights(const loader::ModelFile& file,
                                                               const ModelConfig& config);

}  // namespace wl::models
