#include "models/model_config.h"

#include <algorithm>
#include <cmath>

#include "models/arch/architecture.h"
#include "models/config_keys.h"
#include "models/config_limits.h"
#include "models/rope_config.h"
#include "models/tensor_names.h"

namespace wl::models {

namespace {

void read_sizes(ConfigSource& source, ModelConfig* config) {
  ConfigFields& fields = source.fields;
  config->num_layers = fields.required_int(keys::kNumLayers, kLayersRange);
  config->hidden = fields.required_int(keys::kHidden, kHiddenRange);
  config->ffn = fields.required_int(keys::kFfn, kFfnRange);
  config->context = fields.required_int(keys::kContext, kContextRange);
  config->norm_eps = static_cast<float>(fields.required_number(keys::kNormEps, kEpsRange));
  const int64_t num_tokens = source.num_tokens();
  if (num_tokens == 0 || fields.has(keys::kVocab)) {
    config->vocab = fields.required_int(keys::kVocab, kVocabRange);
  } else {
    config->vocab = static_cast<int>(std::min(num_tokens, kVocabRange.max));
  }
  if (num_tokens > config->vocab) {
    fields.fail(ErrorCode::kModelFormat,
                fields.name(keys::kVocab) + " is " + std::to_string(config->vocab) +
                    ", the tokenizer has " + std::to_string(num_tokens) + " tokens");
  }
}

void check_divides(ConfigFields& fields, Key part_key, int part, Key whole_key, int whole) {
  if (whole % part == 0) return;
  fields.fail(ErrorCode::kModelFormat, fields.name(part_key) + " is " + std::to_string(part) +
                                           ", which does not divide " + fields.name(whole_key) +
                                           " " + std::to_string(whole));
}

void read_heads(ConfigSource& source, ModelConfig* config) {
  ConfigFields& fields = source.fields;
  config->num_heads = fields.required_int(keys::kNumHeads, kHeadsRange);
  config->num_kv_heads = fields.int_or(keys::kNumKvHeads, config->num_heads, kHeadsRange);
  config->head_dim =
      fields.int_or(keys::kHeadDim, std::max(config->hidden / config->num_heads, 1), kHeadDimRange);
}

/// How sizes that are each sound go together.
void check_heads(ConfigSource& source, const ModelConfig& config) {
  ConfigFields& fields = source.fields;
  check_divides(fields, keys::kNumKvHeads, config.num_kv_heads, keys::kNumHeads, config.num_heads);
  if (!fields.has(keys::kHeadDim)) {
    check_divides(fields, keys::kNumHeads, config.num_heads, keys::kHidden, config.hidden);
  }
  const int value_dim = fields.int_or(keys::kValueDim, config.head_dim, kHeadDimRange);
  if (value_dim != config.head_dim) {
    fields.refuse(keys::kValueDim,
                  "not the key_length " + std::to_string(config.head_dim) + ", not supported");
  }
}

/// Whether the file has a head of its own.
bool has_head(const loader::ModelFile& file) {
  return std::any_of(file.tensors.begin(), file.tensors.end(), [&](const auto& tensor) {
    const auto place = place_of(file.container, tensor.name, {});
    return place && !place->layer &&
           place->target_name(place->rule->targets[0], {}) == "output.weight";
  });
}

/// HF says it; where neither says, the model with no head of its own is tied.
bool read_is_tied(ConfigSource& source) {
  if (source.fields.has(keys::kTied)) return source.fields.bool_or(keys::kTied, false);
  return !has_head(source.file);
}

void check_activation(ConfigSource& source, const ModelConfig& config) {
  constexpr Key kGemmaActivation{nullptr, "hidden_activation"};
  const bool is_gelu = config.activation == MlpActivation::kGeluTanh;
  const std::string expected = is_gelu ? "gelu_pytorch_tanh" : "silu";
  for (const Key key : {keys::kActivation, kGemmaActivation}) {
    const std::string name = source.fields.text_or(key, expected);
    if (name == expected || (name == "swish" && !is_gelu)) continue;
    source.fields.refuse(key, "this build computes " + expected + " for " + config.arch);
  }
}

void check_quantization(ConfigSource& source, const Architecture& architecture) {
  if (source.quantization.empty() || source.quantization == architecture.hf_quantization) return;
  source.fields.fail(ErrorCode::kModelArch,
                     "quantization_config " + quote_bytes(source.quantization) +
                         " is not supported; use an unquantized checkpoint or a GGUF file");
}

/// HF configs are full of settings that do not matter for a forward pass, so the ones that do are
/// listed; absent from both lists is what no known decoder has.
bool may_change_arithmetic(const ConfigSource& source, const std::string& name) {
  constexpr std::string_view kGguf[] = {"logit_scale",
                                        "embedding_scale",
                                        "residual_scale",
                                        "attn_logit_softcapping",
                                        "final_logit_softcapping",
                                        "leading_dense_block_count",
                                        "interleave_moe_layer_step",
                                        "use_parallel_residual"};
  constexpr std::string_view kHf[] = {"attn_logit_softcapping",
                                      "final_logit_softcapping",
                                      "sliding_window",
                                      "use_sliding_window",
                                      "layer_types",
                                      "no_rope_layers",
                                      "attention_chunk_size",
                                      "use_bidirectional_attention",
                                      "embedding_multiplier",
                                      "residual_multiplier",
                                      "attention_multiplier",
                                      "logits_scaling",
                                      "logit_scale",
                                      "clip_qkv",
                                      "qk_layernorm",
                                      "use_qk_norm",
                                      "num_experts",
                                      "num_local_experts",
                                      "n_routed_experts",
                                      "n_shared_experts",
                                      "shared_expert_intermediate_size",
                                      "shared_intermediate_size",
                                      "kv_lora_rank",
                                      "q_lora_rank"};
  if (!source.is_gguf()) return std::find(std::begin(kHf), std::end(kHf), name) != std::end(kHf);
  return name.starts_with("attention.") || name.starts_with("expert_") ||
         std::find(std::begin(kGguf), std::end(kGguf), name) != std::end(kGguf);
}

void refuse_unread_settings(ConfigSource& source, const ModelConfig& config) {
  if (!source.fields.bool_or(keys::kCausal, true)) {
    source.fields.refuse(keys::kCausal, "an encoder, not supported");
  }
  const auto layer_types = source.fields.texts(keys::kLayerTypes);
  const bool is_sliding =
      layer_types && std::any_of(layer_types->begin(), layer_types->end(),
                                 [](const std::string& kind) { return kind != "full_attention"; });
  const bool has_window = std::any_of(config.layers.begin(), config.layers.end(),
                                      [](const LayerConfig& layer) { return layer.window > 0; });
  if (is_sliding && !has_window) {
    source.fields.refuse(keys::kLayerTypes,
                         "not all full_attention, which this build does not compute for " +
                             config.arch + " without a sliding window");
  }
  for (const std::string& name : source.fields.unread()) {
    if (may_change_arithmetic(source, name)) source.fields.refuse_unread(name, config.arch);
  }
  refuse_unread_rope_settings(source, config);
}

void check_layer_count(ConfigSource& source, const ModelConfig& config) {
  int present = 0;
  for (const loader::TensorEntry& tensor : source.file.tensors) {
    const auto layer = layer_in_name(source.file.container, tensor.name);
    if (layer) present = std::max(present, *layer + 1);
  }
  if (present == config.num_layers) return;
  source.fields.fail(ErrorCode::kModelFormat, source.fields.name(keys::kNumLayers) + " is " +
                                                  std::to_string(config.num_layers) +
                                                  ", the file has tensors of " +
                                                  std::to_string(present) + " layers");
}

void refuse_architecture(ConfigSource& source) {
  const char* key = source.is_gguf() ? "general.architecture" : "model_type";
  source.fields.fail(ErrorCode::kModelArch,
                     std::string(key) + " is " + quote_bytes(source.architecture) +
                         ", this build runs " + architecture_names(source.file.container));
}

}  // namespace

ConfigReading check_model_config(const loader::ModelFile& file) {
  ConfigReading reading;
  ModelConfig& config = reading.config;
  auto source = open_config(file, &reading.problems);
  if (!source) return reading;
  const Architecture* architecture = find_architecture(file.container, source->architecture);
  if (architecture == nullptr) {
    refuse_architecture(*source);
    return reading;
  }
  config.arch = architecture->name;
  read_sizes(*source, &config);
  read_heads(*source, &config);
  // The rest needs sizes that are sound.
  if (!reading.problems.empty()) return reading;
  check_heads(*source, config);
  if (!reading.problems.empty()) return reading;
  config.is_tied = read_is_tied(*source);
  config.layers.resize(static_cast<size_t>(config.num_layers));
  config.attention_scale = 1.0f / std::sqrt(static_cast<float>(config.head_dim));
  check_quantization(*source, *architecture);
  architecture->read(*source, &config);
  check_activation(*source, config);
  refuse_unread_settings(*source, config);
  check_layer_count(*source, config);
  return reading;
}

Result<ModelConfig> read_model_config(const loader::ModelFile& file) {
  ConfigReading reading = check_model_config(file);
  if (!reading.problems.empty()) return reading.problems.front();
  return std::move(reading.config);
}

}  // namespace wl::models
