#include "models/model_config.h"

#include <cmath>
#include <set>

#include "models/gguf_config.h"
#include "models/hf_config.h"
#include "models/tensor_names.h"

namespace wl::models {

namespace {

/// Layers that have at least one tensor.
std::set<int> layers_present(const loader::ModelFile& file) {
  std::set<int> layers;
  for (const loader::TensorEntry& tensor : file.tensors) {
    const auto name = canonical_name(file, tensor.name);
    if (!name) continue;
    if (const auto layer = layer_of(*name)) layers.insert(*layer);
  }
  return layers;
}

Status check_layer_count(const loader::ModelFile& file, const ModelConfig& config) {
  const std::set<int> layers = layers_present(file);
  const int present = layers.empty() ? 0 : *layers.rbegin() + 1;
  if (present == config.num_layers) return {};
  const char* key =
      file.container == loader::Container::kGguf ? "block_count" : "num_hidden_layers";
  return Error{ErrorCode::kModelFormat,
               std::string(key) + " is " + std::to_string(config.num_layers) +
                   ", the file has tensors of " + std::to_string(present) + " layers"};
}

}  // namespace

Result<ModelConfig> read_model_config(const loader::ModelFile& file) {
  auto config =
      file.container == loader::Container::kGguf ? read_gguf_config(file) : read_hf_config(file);
  if (!config.ok()) return config.error();
  WL_RETURN_IF_ERROR(check_layer_count(file, config.value()));
  config.value().has_qkv_bias = config.value().arch == "qwen2" ||
                                find_tensor(file, block_tensor_name(0, "attn_q.bias")) != nullptr;
  config.value().layers.resize(static_cast<size_t>(config.value().num_layers));
  config.value().attention_scale = 1.0f / std::sqrt(static_cast<float>(config.value().head_dim));
  return config;
}

}  // namespace wl::models
