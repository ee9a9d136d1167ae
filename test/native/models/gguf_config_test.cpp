
#include <cmath>
#include <limits>

#include "check.h"
#include "models/model_config.h"
#include "models/opened_model.h"
#include "models/tiny_model.h"

using wl::models::ModelConfig;
using wl::models::RopePairing;
using wl::test::GgufType;
using wl::test::GgufWriter;
using wl::test::OpenedModel;

namespace {

wl::Result<ModelConfig> read(const GgufWriter& writer) {
  const OpenedModel model(writer);
  return wl::models::read_model_config(model.file);
}

float first_frequency(const GgufWriter& writer) {
  return read(writer).value().ropes[0].inv_freq[0];
}

}  // namespace

WL_TEST("gguf config: a llama file") {
  const auto read_config = read(wl::test::tiny_gguf("llama"));
  WL_CHECK_EQ(wl::test::outcome(read_config), "ok");
  if (!read_config.ok()) return;
  const ModelConfig& config = read_config.value();
  WL_CHECK_EQ(config.arch, "llama");
  WL_CHECK_EQ(config.num_layers, 2);
  WL_CHECK_EQ(config.hidden, 4);
  WL_CHECK_EQ(config.ffn, 6);
  WL_CHECK_EQ(config.num_heads, 2);
  WL_CHECK_EQ(config.num_kv_heads, 1);
  WL_CHECK_EQ(config.head_dim, 2);  // embedding / heads: the file has no key_length
  WL_CHECK_EQ(config.vocab, 5);     // the tokenizer's length
  WL_CHECK_EQ(config.context, 64);
  WL_CHECK_EQ(config.norm_eps, 1e-5f);
  WL_CHECK(config.is_tied);
  WL_CHECK_EQ(config.ropes.size(), size_t{1});
  WL_CHECK(config.ropes[0].pairing == RopePairing::kAdjacent);
  WL_CHECK_EQ(config.ropes[0].rotary_dims, 2);
  WL_CHECK(config.ropes[0].inv_freq == std::vector<float>{1.0f});
  WL_CHECK_EQ(config.ropes[0].magnitude, 1.0f);
  WL_CHECK_EQ(config.layers.size(), size_t{2});
  WL_CHECK_EQ(config.attention_scale, 1.0f / std::sqrt(2.0f));
}

WL_TEST("gguf config: a qwen2 file rotates halves") {
  const auto config = read(wl::test::tiny_gguf("qwen2"));
  WL_CHECK_EQ(wl::test::outcome(config), "ok");
  if (!config.ok()) return;
  WL_CHECK(config.value().ropes[0].pairing == RopePairing::kHalves);
}

WL_TEST("gguf config: hyperparameters out of range are refused with key and value") {
  const struct {
    const char* key;
    uint32_t value;
  } kBad[] = {{"attention.head_count", 0},
              {"attention.head_count", 3},
              {"attention.head_count_kv", 3},
              {"attention.head_count_kv", 0},
              {"block_count", 100000},
              {"block_count", 3},
              {"block_count", 1},
              {"embedding_length", 2147483648u},
              {"embedding_length", 0},
              {"feed_forward_length", 0},
              {"context_length", 0},
              {"rope.dimension_count", 1},
              {"rope.dimension_count", 4},
              {"attention.key_length", 0},
              {"vocab_size", 4}};
  for (const auto& [suffix, value] : kBad) {
    GgufWriter writer = wl::test::tiny_gguf("llama");
    writer.add_u32(std::string("llama.") + suffix, value);
    const std::string last = std::string(suffix).substr(std::string(suffix).rfind('.') + 1);
    WL_EXPECT_ERROR(read(writer), "ERR_MODEL_FORMAT", last + " is " + std::to_string(value));
  }
}

WL_TEST("gguf config: floats must be finite and positive") {
  const float kNan = std::numeric_limits<float>::quiet_NaN();
  const float kInf = std::numeric_limits<float>::infinity();
  for (const float value : {kNan, kInf, -1.0f, 0.0f}) {
    for (const char* key : {"llama.rope.freq_base", "llama.attention.layer_norm_rms_epsilon",
                            "llama.rope.scaling.factor"}) {
      GgufWriter writer = wl::test::tiny_gguf("llama");
      writer.add_f32(key, value);
      WL_EXPECT_ERROR(read(writer), "ERR_MODEL_FORMAT", key);
    }
  }
}

WL_TEST("gguf config: required keys are asked for by name") {
  for (const char* suffix :
       {"block_count", "embedding_length", "feed_forward_length", "context_length",
        "attention.head_count", "attention.layer_norm_rms_epsilon"}) {
    GgufWriter writer = wl::test::tiny_gguf("llama");
    writer.remove(std::string("llama.") + suffix);
    WL_EXPECT_ERROR(read(writer), "ERR_MODEL_FORMAT", std::string(suffix) + " is missing");
  }
}

WL_TEST("gguf config: keys of another type are refused") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_text("llama.block_count", "2");
  WL_EXPECT_ERROR(read(writer), "ERR_MODEL_FORMAT", "block_count is \"2\"");
  writer.add_f32("llama.block_count", 2.0f);
  WL_EXPECT_ERROR(read(writer), "ERR_MODEL_FORMAT", "block_count is 2, expected an integer");
  writer.add_u32("general.architecture", 1);
  WL_EXPECT_ERROR(read(writer), "ERR_MODEL_FORMAT", "general.architecture");
}

WL_TEST("gguf config: per-layer head counts count when they are all equal") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_numbers<uint32_t>("llama.attention.head_count", GgufType::kU32, {2, 2});
  WL_CHECK_EQ(wl::test::outcome(read(writer)), "ok");
  writer.add_numbers<uint32_t>("llama.attention.head_count", GgufType::kU32, {2, 1});
  WL_EXPECT_ERROR(read(writer), "ERR_MODEL_FORMAT", "head_count is an array of unequal values");
}

WL_TEST("gguf config: architectures that this build does not run are refused with those it runs") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  for (const char* name : {"gemma2", "mistral3", "granitemoe", "qwen2moe", "mistral", "Llama"}) {
    writer.add_text("general.architecture", name);
    WL_EXPECT_ERROR(read(writer), "ERR_MODEL_ARCH",
                    std::string("general.architecture is \"") + name +
                        "\", this build runs gemma3, gpt-oss, granite, llama, olmo2, phi3, qwen2, "
                        "qwen3, qwen3moe, smollm3");
  }
  writer.remove("general.architecture");
  WL_EXPECT_ERROR(read(writer), "ERR_MODEL_FORMAT", "general.architecture is missing");
}

WL_TEST("gguf config: settings that are not computed are refused by name, neutral ones are not") {
  const struct {
    const char* arch;
    const char* key;
    float value;
  } kForeign[] = {{"llama", "logit_scale", 8.0f},
                  {"llama", "attention.scale", 0.5f},
                  {"llama", "embedding_scale", 12.0f},
                  {"qwen2", "expert_count", 8.0f},
                  {"llama", "rope.scaling.yarn_log_multiplier", 0.1f},
                  {"qwen2", "attention.clamp_kqv", 8.0f},
                  {"qwen3", "attention.temperature_scale", 0.1f},
                  {"qwen3", "rope.freq_base_swa", 1e4f},
                  {"gemma3", "attn_logit_softcapping", 50.0f},
                  {"gemma3", "attention.scale", 0.1f},
                  {"qwen3moe", "expert_shared_count", 1.0f},
                  {"qwen3moe", "expert_weights_scale", 2.5f},
                  {"granite", "final_logit_softcapping", 30.0f}};
  for (const auto& [arch, key, value] : kForeign) {
    const std::string name = std::string(arch) + "." + key;
    GgufWriter writer = wl::test::tiny_gguf(arch);
    writer.add_f32(name, value);
    WL_EXPECT_ERROR(read(writer), "ERR_MODEL_ARCH", name);
    writer.add_f32(name, 0.0f);
    WL_CHECK_EQ(wl::test::outcome(read(writer)), "ok");
  }
  GgufWriter window = wl::test::tiny_gguf("llama");
  window.add_u32("llama.attention.sliding_window", 32);
  WL_EXPECT_ERROR(read(window), "ERR_MODEL_ARCH", "llama.attention.sliding_window is 32");
  GgufWriter olmo3 = wl::test::tiny_gguf("olmo2");
  olmo3.add_u32("olmo2.attention.sliding_window", 32);
  WL_EXPECT_ERROR(read(olmo3), "ERR_MODEL_ARCH", "OLMo 3");
  GgufWriter encoder = wl::test::tiny_gguf("llama");
  encoder.add("llama.attention.causal", GgufType::kBool, uint8_t{0});
  WL_EXPECT_ERROR(read(encoder), "ERR_MODEL_ARCH", "attention.causal is false");
  GgufWriter values = wl::test::tiny_gguf("llama");
  values.add_u32("llama.attention.value_length", 4);
  WL_EXPECT_ERROR(read(values), "ERR_MODEL_ARCH", "value_length is 4");
}

WL_TEST("gguf config: all problems of a file are told at once") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.remove("llama.block_count");
  writer.add_u32("llama.embedding_length", 0);
  writer.add_text("llama.context_length", "long");
  const OpenedModel model(writer);
  const auto problems = wl::models::check_model_config(model.file).problems;
  WL_CHECK_EQ(problems.size(), size_t{3});
}

WL_TEST("gguf config: linear scaling by its key or the old one") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_f32("llama.rope.scale_linear", 2.0f);
  WL_CHECK_EQ(first_frequency(writer), 0.5f);
  writer.add_f32("llama.rope.scaling.factor", 4.0f);
  WL_CHECK_EQ(first_frequency(writer), 0.25f);
  writer.add_text("llama.rope.scaling.type", "none");
  WL_CHECK_EQ(first_frequency(writer), 1.0f);
}

WL_TEST("gguf config: rope_freqs divides the frequencies") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_f32_tensor("rope_freqs.weight", {1});
  WL_EXPECT_ERROR(read(writer), "ERR_MODEL_TENSOR", "not finite and positive");
  writer.tensors.back().bytes = wl::test::le_bytes(8.0f);
  const auto config = read(writer);
  WL_CHECK_EQ(wl::test::outcome(config), "ok");
  if (config.ok()) WL_CHECK(config.value().ropes[0].inv_freq == std::vector<float>{0.125f});
  writer.remove_tensor("rope_freqs.weight");
  writer.add_f32_tensor("rope_freqs.weight", {2});
  WL_EXPECT_ERROR(read(writer), "ERR_MODEL_TENSOR", "does not have 1 factors");
}
