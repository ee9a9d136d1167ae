#include "check.h"
#include "loader/expect_error.h"
#include "models/model_config.h"
#include "models/rope_scaling.h"

using wl::models::ModelConfig;

namespace {

/// A sound llama config; `extra` members go in front, so an override must be removed here first.
std::string config_text(const std::string& extra, const std::string& without = "") {
  const std::pair<const char*, const char*> kMembers[] = {
      {"model_type", "\"llama\""}, {"num_hidden_layers", "2"},         {"hidden_size", "64"},
      {"intermediate_size", "96"}, {"num_attention_heads", "4"},       {"num_key_value_heads", "2"},
      {"vocab_size", "100"},       {"max_position_embeddings", "512"}, {"rms_norm_eps", "1e-06"},
  };
  std::string text = "{" + extra;
  for (const auto& [key, value] : kMembers) {
    if (without == key) continue;
    if (text.size() > 1) text += ",";
    text += wl::quote_bytes(key) + ":" + value;
  }
  return text + "}";
}

wl::Result<ModelConfig> read(const std::string& config_json) {
  wl::loader::ModelFile file;
  file.container = wl::loader::Container::kSafetensors;
  file.config_json = config_json;
  file.tensors = {{"model.layers.0.input_layernorm.weight", 0, {64}, nullptr, 0},
                  {"model.layers.1.input_layernorm.weight", 0, {64}, nullptr, 0},
                  {"lm_head.weight", 0, {100, 64}, nullptr, 0}};
  return wl::models::read_model_config(file);
}

/// `key` set to `value` instead of what config_text has.
wl::Result<ModelConfig> read_with(const std::string& key, const std::string& value) {
  return read(config_text(wl::quote_bytes(key) + ":" + value, key));
}

/// Of rotary pair 4 of 8: 1 / sqrt(base), scaled.
float middle_frequency(const std::string& key, const std::string& value) {
  return read_with(key, value).value().ropes[0].inv_freq[4];
}

}  // namespace

WL_TEST("hf config: a llama config with defaults") {
  const auto read_config = read(config_text(""));
  WL_CHECK_EQ(wl::test::outcome(read_config), "ok");
  if (!read_config.ok()) return;
  const ModelConfig& config = read_config.value();
  WL_CHECK_EQ(config.head_dim, 16);
  WL_CHECK_EQ(config.num_kv_heads, 2);
  WL_CHECK_EQ(config.ropes[0].inv_freq[4], 0.01f);  // base 10000, half-way
  WL_CHECK(config.ropes[0].pairing == wl::models::RopePairing::kHalves);
  WL_CHECK(!config.is_tied);
  WL_CHECK_EQ(read_with("num_key_value_heads", "null").value().num_kv_heads, 4);
  WL_CHECK_EQ(read_with("head_dim", "32").value().head_dim, 32);
  WL_CHECK_EQ(read_with("partial_rotary_factor", "0.5").value().ropes[0].rotary_dims, 8);
  WL_CHECK(read_with("tie_word_embeddings", "true").value().is_tied);
}

WL_TEST("hf config: rope settings in the classic and in the newer form") {
  WL_CHECK_EQ(middle_frequency("rope_theta", "250000.0"), 0.002f);
  WL_CHECK_EQ(middle_frequency("rope_parameters", R"({"rope_type":"default","rope_theta":2500})"),
              0.02f);
  WL_CHECK_EQ(middle_frequency("rope_parameters", R"({"full_attention":{"rope_theta":400}})"),
              0.05f);
  WL_CHECK_EQ(middle_frequency("rope_scaling", R"({"type":"linear","factor":4})"), 0.01f / 4);
  WL_EXPECT_ERROR(read_with("rope_scaling", R"({"type":"linear"})"), "ERR_MODEL_FORMAT",
                  "factor is missing");
  for (const char* type : {"dynamic", "mrope", "proportional"}) {
    WL_EXPECT_ERROR(
        read_with("rope_scaling", std::string(R"({"rope_type":")") + type + R"(","factor":4})"),
        "ERR_MODEL_ARCH", type);
  }
  WL_EXPECT_ERROR(read_with("rope_scaling", R"({"type":"linear","factor":4,"alpha":1000})"),
                  "ERR_MODEL_ARCH", "alpha is 1000");
  WL_EXPECT_ERROR(read_with("rope_scaling", R"({"type":"default","mrope_section":[16,24,24]})"),
                  "ERR_MODEL_ARCH", "mrope_section");
  WL_CHECK_EQ(
      middle_frequency("rope_scaling", R"({"type":"linear","factor":1.0,"finetuned":true})"),
      0.01f);
}

WL_TEST("hf config: yarn's magnitude from its own settings or computed") {
  const auto magnitude = [](const std::string& extra) {
    return read_with("rope_scaling", R"({"rope_type":"yarn","factor":4,)" +
                                         (R"("original_max_position_embeddings":128)" + extra) +
                                         "}")
        .value()
        .ropes[0]
        .magnitude;
  };
  WL_CHECK_EQ(magnitude(""), wl::models::yarn_magnitude(4.0, {}, {}));
  WL_CHECK_EQ(magnitude(R"(,"attention_factor":1.25)"), 1.25f);
  WL_CHECK_EQ(magnitude(R"(,"mscale":1.0,"mscale_all_dim":0.5)"),
              wl::models::yarn_magnitude(4.0, 1.0, 0.5));
}

WL_TEST("hf config: text settings may be nested") {
  const std::string inner = config_text("");
  WL_CHECK_EQ(read(R"({"model_type":"llama","text_config":)" + inner + "}").value().hidden, 64);
}

WL_TEST("hf config: llama3 scaling") {
  const auto config =
      read_with("rope_scaling",
                R"({"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,)"
                R"("original_max_position_embeddings":64})");
  WL_CHECK_EQ(wl::test::outcome(config), "ok");
  if (config.ok()) WL_CHECK_EQ(config.value().ropes[0].scaling, "llama3");
  WL_EXPECT_ERROR(
      read_with("rope_scaling",
                R"({"rope_type":"llama3","factor":8,"low_freq_factor":4,"high_freq_factor":4,)"
                R"("original_max_position_embeddings":64})"),
      "ERR_MODEL_FORMAT", "high_freq_factor");
}

WL_TEST("hf config: fields out of range or of another kind are refused with key and value") {
  const std::pair<const char*, const char*> kBad[] = {
      {"num_hidden_layers", "0"},
      {"num_hidden_layers", "1000000"},
      {"num_hidden_layers", "3"},
      {"hidden_size", "-1"},
      {"hidden_size", "\"64\""},
      {"intermediate_size", "1.5"},
      {"num_attention_heads", "0"},
      {"num_attention_heads", "6"},
      {"num_key_value_heads", "3"},
      {"vocab_size", "99999999999"},
      {"max_position_embeddings", "[]"},
      {"rms_norm_eps", "-1"},
      {"rope_theta", "0"},
      {"tie_word_embeddings", "1"},
  };
  for (const auto& [key, value] : kBad) {
    WL_EXPECT_ERROR(read_with(key, value), "ERR_MODEL_FORMAT", std::string(key) + " is ");
  }
  WL_EXPECT_ERROR(read_with("partial_rotary_factor", "0.19"), "ERR_MODEL_FORMAT", "rotary dims");
}

WL_TEST("hf config: required fields are asked for by name") {
  for (const char* key :
       {"num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads",
        "vocab_size", "max_position_embeddings", "rms_norm_eps"}) {
    WL_EXPECT_ERROR(read(config_text("", key)), "ERR_MODEL_FORMAT",
                    std::string(key) + " is missing");
  }
  WL_EXPECT_ERROR(read("[]"), "ERR_MODEL_FORMAT", "no JSON object");
  WL_EXPECT_ERROR(read("{"), "ERR_MODEL_FORMAT", "config.json: JSON");
}

WL_TEST("hf config: what is not computed is refused by name") {
  for (const char* type : {"mistral3", "granitemoe", "qwen2_moe", "gemma2", "olmo3", "Llama"}) {
    WL_EXPECT_ERROR(
        read_with("model_type", wl::quote_bytes(type)), "ERR_MODEL_ARCH",
        std::string("model_type is \"") + type +
            "\", this build runs gemma3, gemma3_text, gpt_oss, granite, llama, mistral, mixtral, "
            "olmo2, phi3, qwen2, qwen3, qwen3_moe, smollm3");
  }
  WL_EXPECT_ERROR(read_with("model_type", "null"), "ERR_MODEL_ARCH", "model_type is \"\"");
  for (const char* method : {"gptq", "mxfp4", "fp8"}) {
    WL_EXPECT_ERROR(
        read_with("quantization_config", std::string(R"({"quant_method":")") + method + "\"}"),
        "ERR_MODEL_ARCH", method);
  }
  WL_EXPECT_ERROR(read_with("hidden_act", "\"gelu\""), "ERR_MODEL_ARCH", "\"gelu\"");
  const std::pair<const char*, const char*> kForeign[] = {
      {"attn_logit_softcapping", "50.0"},
      {"final_logit_softcapping", "30.0"},
      {"sliding_window", "4096"},
      {"layer_types", R"(["full_attention","sliding_attention"])"},
      {"no_rope_layers", "[1,0]"},
      {"embedding_multiplier", "12.0"},
      {"attention_multiplier", "0.5"},
      {"clip_qkv", "8.0"},
      {"num_local_experts", "8"},
      {"n_shared_experts", "1"}};
  for (const auto& [key, value] : kForeign) {
    WL_EXPECT_ERROR(read_with(key, value), "ERR_MODEL_ARCH", std::string(key) + " is ");
    WL_CHECK_EQ(wl::test::outcome(read_with(key, "null")), "ok");
  }
  WL_CHECK_EQ(wl::test::outcome(read_with("layer_types", R"(["full_attention","full_attention"])")),
              "ok");
}
