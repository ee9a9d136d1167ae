#include "models/gguf_config.h"

#include <algorithm>

#include "models/config_fields.h"
#include "models/config_limits.h"
#include "models/rope_scaling.h"
#include "models/tensor_names.h"

namespace wl::models {

namespace {

using loader::MetaValue;

template <class T>
bool is_uniform(const std::vector<T>& values) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [&](const T& v) { return v == values[0]; });
}

struct FieldOfMeta {
  FieldValue operator()(bool value) const { return flag_field(value); }
  FieldValue operator()(int64_t value) const { return integer_field(value); }
  FieldValue operator()(uint64_t value) const {
    return value <= static_cast<uint64_t>(INT64_MAX) ? integer_field(static_cast<int64_t>(value))
                                                     : other_field(std::to_string(value));
  }
  FieldValue operator()(double value) const { return number_field(value); }
  FieldValue operator()(const std::string& value) const { return text_field(value); }
  FieldValue operator()(const loader::MetaArrayI& values) const {
    return is_uniform(values) ? integer_field(values[0])
                              : other_field("an array of unequal values (one for each layer)");
  }
  FieldValue operator()(const loader::MetaArrayF&) const { return other_field("an array"); }
  FieldValue operator()(const loader::MetaArrayS&) const {
    return other_field("an array of strings");
  }
};

std::optional<FieldValue> find_field(const loader::ModelFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return std::nullopt;
  return std::visit(FieldOfMeta{}, found->second.v);
}

/// Tokens of the embedded tokenizer, 0 without one.
int64_t num_tokens(const loader::ModelFile& file) {
  const auto found = file.metadata.find("tokenizer.ggml.tokens");
  if (found == file.metadata.end()) return 0;
  const auto* tokens = std::get_if<loader::MetaArrayS>(&found->second.v);
  return tokens != nullptr ? static_cast<int64_t>(tokens->size()) : 0;
}

/// Settings that change the arithmetic and that neither architecture computes here.
void refuse_foreign_settings(const std::string& prefix, ConfigFields* fields) {
  if (const int experts = fields->int_or(prefix + "expert_count", 0, {0, INT32_MAX}); experts > 0) {
    fields->fail(ErrorCode::kModelArch, "a mixture of " + std::to_string(experts) + " experts (" +
                                            prefix + "expert_count), not supported");
  }
  if (!fields->bool_or(prefix + "attention.causal", true)) {
    fields->fail(ErrorCode::kModelArch, prefix +
                                            "attention.causal is false (an encoder), not "
                                            "supported");
  }
  constexpr const char* kForeign[] = {
      "attention.sliding_window", "attention.scale", "embedding_scale",
      "residual_scale",           "logit_scale",     "attn_logit_softcapping",
      "final_logit_softcapping"};
  for (const char* suffix : kForeign) {
    const std::string key = prefix + suffix;
    if (fields->number_or(key, 0.0, {-1.0, 1e12}) != 0.0) {
      fields->fail(ErrorCode::kModelArch, key + " is set, which this build does not compute for " +
                                              prefix.substr(0, prefix.size() - 1));
    }
  }
}

void read_rope(const loader::ModelFile& file, const std::string& prefix, ConfigFields* fields,
               ModelConfig* config) {
  RopeConfig rope;
  // GGUF stores the Q and K rows of `llama` permuted for adjacent pairs; those of qwen2 as HF does.
  rope.pairing = config->arch == "llama" ? RopePairing::kAdjacent : RopePairing::kHalves;
  rope.rotary_dims =
      fields->int_or(prefix + "rope.dimension_count", config->head_dim, {2, config->head_dim});
  const double base = fields->number_or(prefix + "rope.freq_base", 10000.0, kRopeBaseRange);
  const std::string type = fields->text_or(prefix + "rope.scaling.type", "linear");
  double factor = 1.0;
  if (type == "linear") {
    const double old_factor = fields->number_or(prefix + "rope.scale_linear", 1.0, kScaleRange);
    factor = fields->number_or(prefix + "rope.scaling.factor", old_factor, kScaleRange);
  } else if (type != "none") {
    fields->fail(ErrorCode::kModelArch, prefix + "rope.scaling.type is " + quote_bytes(type) +
                                            ", this build computes none and linear");
  }
  if (rope.rotary_dims % 2 != 0) {
    fields->fail(ErrorCode::kModelFormat, prefix + "rope.dimension_count is " +
                                              std::to_string(rope.rotary_dims) +
                                              ", expected an even number");
  }
  if (!fields->status().ok()) return;
  rope.inv_freq = inverse_frequencies(base, rope.rotary_dims);
  if (factor != 1.0) rope.scaling = "linear";
  for (float& frequency : rope.inv_freq) frequency /= static_cast<float>(factor);
  if (const loader::TensorEntry* tensor = find_tensor(file, "rope_freqs.weight")) {
    auto factors = read_freq_factors(*tensor, rope.rotary_dims);
    if (!factors.ok()) return fields->fail(factors.error().code, factors.error().message);
    divide_frequencies(factors.value(), &rope.inv_freq);
    rope.scaling = "llama3";
  }
  config->ropes = {std::move(rope)};
}

void read_heads(const std::string& prefix, ConfigFields* fields, ModelConfig* config) {
  config->num_heads = fields->required_int(prefix + "attention.head_count", kHeadsRange);
  config->num_kv_heads =
      fields->int_or(prefix + "attention.head_count_kv", config->num_heads, kHeadsRange);
  if (config->num_heads % config->num_kv_heads != 0) {
    fields->fail(ErrorCode::kModelFormat,
                 prefix + "attention.head_count_kv is " + std::to_string(config->num_kv_heads) +
                     ", which does not divide head_count " + std::to_string(config->num_heads));
  }
  const std::string key = prefix + "attention.key_length";
  if (!fields->has(key) && config->hidden % config->num_heads != 0) {
    fields->fail(ErrorCode::kModelFormat,
                 prefix + "attention.head_count is " + std::to_string(config->num_heads) +
                     ", which does not divide embedding_length " + std::to_string(config->hidden));
  }
  config->head_dim = fields->int_or(key, config->hidden / config->num_heads, kHeadDimRange);
  const int value_length =
      fields->int_or(prefix + "attention.value_length", config->head_dim, kHeadDimRange);
  if (value_length != config->head_dim) {
    fields->fail(ErrorCode::kModelArch, prefix + "attention.value_length is " +
                                            std::to_string(value_length) + ", key_length " +
                                            std::to_string(config->head_dim) +
                                            ": different sizes are not supported");
  }
}

}  // namespace

Result<ModelConfig> read_gguf_config(const loader::ModelFile& file) {
  ConfigFields fields("GGUF metadata",
                      [&](const std::string& key) { return find_field(file, key); });
  ModelConfig config;
  config.arch = fields.text_or("general.architecture", "");
  WL_RETURN_IF_ERROR(fields.status());
  if (config.arch != "llama" && config.arch != "qwen2") {
    fields.fail(ErrorCode::kModelArch, "general.architecture is " + quote_bytes(config.arch) +
                                           ", this build runs llama and qwen2");
    return fields.status().error();
  }
  const std::string prefix = config.arch + ".";
  refuse_foreign_settings(prefix, &fields);
  config.num_layers = fields.required_int(prefix + "block_count", kLayersRange);
  config.hidden = fields.required_int(prefix + "embedding_length", kHiddenRange);
  config.ffn = fields.required_int(prefix + "feed_forward_length", kFfnRange);
  config.context = fields.required_int(prefix + "context_length", kContextRange);
  config.norm_eps = static_cast<float>(
      fields.required_number(prefix + "attention.layer_norm_rms_epsilon", kEpsRange));
  WL_RETURN_IF_ERROR(fields.status());
  read_heads(prefix, &fields, &config);
  WL_RETURN_IF_ERROR(fields.status());
  read_rope(file, prefix, &fields, &config);
  const int64_t vocab = num_tokens(file);
  if (vocab == 0 || fields.has(prefix + "vocab_size")) {
    config.vocab = fields.required_int(prefix + "vocab_size", kVocabRange);
  } else {
    config.vocab = static_cast<int>(vocab);
  }
  if (vocab > config.vocab) {
    fields.fail(ErrorCode::kModelFormat, prefix + "vocab_size is " + std::to_string(config.vocab) +
                                             ", the tokenizer has " + std::to_string(vocab) +
                                             " tokens");
  }
  WL_RETURN_IF_ERROR(fields.status());
  config.is_tied = find_tensor(file, "output.weight") == nullptr;
  return config;
}

}  // namespace wl::models
