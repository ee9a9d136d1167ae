#include "models/hf_config.h"

#include <cmath>

#include "base/json.h"
#include "models/config_fields.h"
#include "models/config_limits.h"
#include "models/rope_scaling.h"
#include "models/tensor_names.h"

namespace wl::models {

namespace {

constexpr const char* kSource = "config.json";

FieldValue field_of_json(const JsonValue& value) {
  if (const auto flag = value.as_bool()) return flag_field(*flag);
  if (const auto integer = value.as_int()) return integer_field(*integer);
  if (const auto number = value.as_number()) return number_field(*number);
  if (const std::string* text = value.as_string()) return text_field(*text);
  return other_field(value.as_array() != nullptr ? "an array" : "an object");
}

/// Fields of one JSON object; null counts as absent, as in transformers. `object` may be nullptr.
ConfigFields fields_of(std::string source, const JsonValue* object) {
  return ConfigFields(std::move(source), [object](const std::string& key) {
    const JsonValue* value = object != nullptr ? object->find(key) : nullptr;
    if (value == nullptr || value->is_null()) return std::optional<FieldValue>();
    return std::optional(field_of_json(*value));
  });
}

/// A member that is there and not null.
const JsonValue* find_set(const JsonValue& object, const char* key) {
  const JsonValue* value = object.find(key);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

Status refuse_quantized(const JsonValue& config) {
  const JsonValue* quantization = find_set(config, "quantization_config");
  if (quantization == nullptr) return {};
  const std::string method =
      fields_of(kSource, quantization).text_or("quant_method", "of unknown method");
  return Error{ErrorCode::kModelArch, std::string(kSource) + ": quantization_config " +
                                          quote_bytes(method) +
                                          " is not supported; use an unquantized checkpoint or a "
                                          "GGUF file"};
}

/// Settings that change the arithmetic and that neither architecture computes here.
Status refuse_foreign_settings(const std::string& model_type, const JsonValue& config,
                               ConfigFields* fields) {
  const std::string activation = fields->text_or("hidden_act", "silu");
  if (activation != "silu" && activation != "swish") {
    fields->fail(ErrorCode::kModelArch,
                 "hidden_act is " + quote_bytes(activation) + ", this build computes silu");
  }
  bool is_sliding = model_type == "qwen2" && fields->bool_or("use_sliding_window", false);
  if (const JsonValue* kinds = config.find("layer_types"); kinds && kinds->as_array()) {
    for (const JsonValue& kind : *kinds->as_array()) {
      const std::string* text = kind.as_string();
      is_sliding |= text == nullptr || *text != "full_attention";
    }
  }
  if (is_sliding) {
    fields->fail(ErrorCode::kModelArch,
                 "use_sliding_window or layer_types ask for a sliding window, not supported for " +
                     model_type);
  }
  return fields->status();
}

/// Rope settings: `rope_parameters` when there (of the full-attention layers, if keyed by layer
/// type), else `rope_scaling`.
const JsonValue* rope_settings(const JsonValue& config) {
  if (const JsonValue* parameters = find_set(config, "rope_parameters")) {
    const JsonValue* full = find_set(*parameters, "full_attention");
    return full != nullptr ? full : parameters;
  }
  return find_set(config, "rope_scaling");
}

void read_llama3(ConfigFields* settings, double base, RopeConfig* rope) {
  Llama3Scaling scaling;
  scaling.factor = settings->required_number("factor", kScaleRange);
  scaling.low_freq_factor = settings->required_number("low_freq_factor", kScaleRange);
  scaling.high_freq_factor = settings->required_number("high_freq_factor", kScaleRange);
  scaling.original_context =
      settings->required_int("original_max_position_embeddings", kContextRange);
  if (scaling.high_freq_factor <= scaling.low_freq_factor) {
    settings->fail(ErrorCode::kModelFormat, "high_freq_factor is not above low_freq_factor");
  }
  if (!settings->status().ok()) return;
  divide_frequencies(llama3_freq_factors(scaling, base, rope->rotary_dims), &rope->inv_freq);
}

Status read_rope(const JsonValue& config, ConfigFields* fields, ModelConfig* out) {
  RopeConfig rope;
  rope.pairing = RopePairing::kHalves;  // HF keeps rotate-half rows for every architecture
  const double share = fields->number_or("partial_rotary_factor", 1.0, {0.0, 1.0});
  rope.rotary_dims = static_cast<int>(std::floor(out->head_dim * share));
  if (rope.rotary_dims < 2 || rope.rotary_dims % 2 != 0) {
    fields->fail(ErrorCode::kModelFormat, "head_dim and partial_rotary_factor give " +
                                              std::to_string(rope.rotary_dims) +
                                              " rotary dims, expected an even number");
  }
  ConfigFields settings = fields_of(std::string(kSource) + " rope settings", rope_settings(config));
  const double outer_base = fields->number_or("rope_theta", 10000.0, kRopeBaseRange);
  const double base = settings.number_or("rope_theta", outer_base, kRopeBaseRange);
  WL_RETURN_IF_ERROR(fields->status());
  WL_RETURN_IF_ERROR(settings.status());
  rope.inv_freq = inverse_frequencies(base, rope.rotary_dims);
  const std::string type = settings.text_or("rope_type", settings.text_or("type", "default"));
  if (type == "linear") {
    const auto factor = static_cast<float>(settings.required_number("factor", kScaleRange));
    for (float& frequency : rope.inv_freq) frequency /= factor;
  } else if (type == "llama3") {
    read_llama3(&settings, base, &rope);
  } else if (type != "default") {
    settings.fail(ErrorCode::kModelArch, "rope_type " + quote_bytes(type) +
                                             " is not supported; this build computes default, "
                                             "linear and llama3");
  }
  if (type != "default") rope.scaling = type;
  out->ropes = {std::move(rope)};
  return settings.status();
}

Status read_heads(ConfigFields* fields, ModelConfig* out) {
  out->num_heads = fields->required_int("num_attention_heads", kHeadsRange);
  out->num_kv_heads = fields->int_or("num_key_value_heads", out->num_heads, kHeadsRange);
  WL_RETURN_IF_ERROR(fields->status());
  if (out->num_heads % out->num_kv_heads != 0) {
    fields->fail(ErrorCode::kModelFormat, "num_key_value_heads is " +
                                              std::to_string(out->num_kv_heads) +
                                              ", which does not divide num_attention_heads " +
                                              std::to_string(out->num_heads));
  }
  if (!fields->has("head_dim") && out->hidden % out->num_heads != 0) {
    fields->fail(ErrorCode::kModelFormat,
                 "num_attention_heads is " + std::to_string(out->num_heads) +
                     ", which does not divide hidden_size " + std::to_string(out->hidden));
  }
  out->head_dim = fields->int_or("head_dim", out->hidden / out->num_heads, kHeadDimRange);
  return fields->status();
}

Result<ModelConfig> read_decoder(const std::string& model_type, const JsonValue& config,
                                 const loader::ModelFile& file) {
  ConfigFields fields = fields_of(kSource, &config);
  WL_RETURN_IF_ERROR(refuse_foreign_settings(model_type, config, &fields));
  ModelConfig out;
  out.arch = model_type;
  out.num_layers = fields.required_int("num_hidden_layers", kLayersRange);
  out.hidden = fields.required_int("hidden_size", kHiddenRange);
  out.ffn = fields.required_int("intermediate_size", kFfnRange);
  out.vocab = fields.required_int("vocab_size", kVocabRange);
  out.context = fields.required_int("max_position_embeddings", kContextRange);
  out.norm_eps = static_cast<float>(fields.required_number("rms_norm_eps", kEpsRange));
  out.is_tied =
      fields.bool_or("tie_word_embeddings", false) || find_tensor(file, "output.weight") == nullptr;
  WL_RETURN_IF_ERROR(fields.status());
  WL_RETURN_IF_ERROR(read_heads(&fields, &out));
  WL_RETURN_IF_ERROR(read_rope(config, &fields, &out));
  return out;
}

}  // namespace

Result<ModelConfig> read_hf_config(const loader::ModelFile& file) {
  auto json = parse_json(file.config_json);
  if (!json.ok()) {
    return Error{json.error().code, std::string(kSource) + ": " + json.error().message};
  }
  const JsonValue& root = json.value();
  if (root.as_object() == nullptr) {
    return Error{ErrorCode::kModelFormat, std::string(kSource) + ": is no JSON object"};
  }
  const JsonValue* text_config = find_set(root, "text_config");
  const JsonValue& config = text_config != nullptr ? *text_config : root;
  WL_RETURN_IF_ERROR(refuse_quantized(root));
  WL_RETURN_IF_ERROR(refuse_quantized(config));
  const std::string inner_type = fields_of(kSource, &config).text_or("model_type", "");
  const std::string model_type = fields_of(kSource, &root).text_or("model_type", inner_type);
  if (model_type != "llama" && model_type != "qwen2") {
    return Error{ErrorCode::kModelArch, std::string(kSource) + ": model_type is " +
                                            quote_bytes(model_type) +
                                            ", this build runs llama and qwen2"};
  }
  return read_decoder(model_type, config, file);
}

}  // namespace wl::models
