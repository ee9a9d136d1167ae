#pragma once
// What tells one architecture from another: its names, the settings and features that are its own,
// and the tensors that only it has. Everything that decoders share is read by model_config.cpp and
// weight_map.cpp; one file beside this one holds one architecture.

#include <span>
#include <string>
#include <string_view>

#include "models/config_source.h"
#include "models/model_config.h"
#include "models/tensor_rules.h"

namespace wl::models {

struct Architecture {
  const char* name;                            // general.architecture in GGUF, ModelConfig::arch
  std::span<const std::string_view> hf_types;  // model_type in HF
  /// Fills what the shared reader leaves open, above all ModelConfig::ropes. The sizes are there
  /// and sound; layers, attention_scale and is_tied have their usual values.
  void (*read)(ConfigSource& source, ModelConfig* config);
  std::span<const TensorRule> tensors = {};  // before those of layer_tensor_rules()
  /// Parts of a layer whose bias a file must have. Any other bias is used when it is there.
  std::span<const std::string_view> biased = {};
  std::string_view hf_quantization = {};  // the quant_method that it may have, if any
};

/// By general.architecture or model_type; nullptr for one that this build does not run.
const Architecture* find_architecture(loader::Container container, const std::string& name);

/// By ModelConfig::arch, which must be one of them.
const Architecture& architecture_of(const ModelConfig& config);

/// "gemma3, gpt-oss, ..." as that container names them, for messages.
std::string architecture_names(loader::Container container);

}  // namespace wl::models
