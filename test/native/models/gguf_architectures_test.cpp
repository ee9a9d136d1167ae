// Every architecture as its GGUF files have it: features, windows, ropes and the tensors behind
// them.

#include <cmath>

#include "check.h"
#include "models/opened_model.h"
#include "models/rope_scaling.h"
#include "models/tiny_model.h"
#include "models/weight_map.h"

using namespace wl::models;
using wl::test::GgufType;
using wl::test::GgufWriter;
using wl::test::OpenedModel;

namespace {

ModelConfig config_of(const GgufWriter& writer) {
  const OpenedModel model(writer);
  const auto config = read_model_config(model.file);
  WL_CHECK_EQ(wl::test::outcome(config), "ok");
  return config.ok() ? config.value() : ModelConfig{};
}

ModelConfig config_of(const char* arch, uint64_t num_layers = 2) {
  return config_of(wl::test::tiny_gguf(arch, num_layers));
}

std::vector<int> windows_of(const ModelConfig& config) {
  std::vector<int> windows;
  for (const LayerConfig& layer : config.layers) windows.push_back(layer.window);
  return windows;
}

std::vector<int> ropes_of(const ModelConfig& config) {
  std::vector<int> ropes;
  for (const LayerConfig& layer : config.layers) ropes.push_back(layer.rope);
  return ropes;
}

}  // namespace

WL_TEST("gguf architectures: every one reads and maps, with q and k paired as its converter does") {
  for (const std::string arch : wl::test::kGgufArchitectures) {
    const OpenedModel model(wl::test::tiny_gguf(arch));
    const auto config = read_model_config(model.file);
    WL_CHECK_EQ(wl::test::outcome(config), "ok");
    if (!config.ok()) continue;
    WL_CHECK_EQ(config.value().arch, arch);
    WL_CHECK_EQ(wl::test::outcome(map_weights(model.file, config.value())), "ok");
    const bool is_permuted = arch == "llama" || arch == "smollm3" || arch == "granite";
    WL_CHECK_EQ(config.value().ropes[0].pairing == RopePairing::kAdjacent, is_permuted);
  }
}

WL_TEST("gguf architectures: qwen3 normalises heads, in the mixture too") {
  WL_CHECK(config_of("qwen3").qk_norm == QkNorm::kPerHead);
  const ModelConfig moe = config_of("qwen3moe");
  WL_CHECK(moe.qk_norm == QkNorm::kPerHead);
  WL_CHECK_EQ(moe.moe.num_experts, 3);
  WL_CHECK_EQ(moe.moe.num_used, 2);
  WL_CHECK_EQ(moe.moe.ffn, 8);
  WL_CHECK(moe.moe.rule == ExpertRule::kSoftmaxThenTopNormalized);
  WL_CHECK(moe.layers[0].is_moe && moe.layers[1].is_moe);
}

WL_TEST(
    "gguf architectures: qwen3moe without the size of an expert shares the MLP's among those "
    "used") {
  GgufWriter writer = wl::test::tiny_gguf("qwen3moe");
  writer.remove("qwen3moe.expert_feed_forward_length");
  writer.add_u32("qwen3moe.feed_forward_length", 16);
  WL_CHECK_EQ(config_of(writer).moe.ffn, 8);
}

WL_TEST("gguf architectures: gemma3 slides in five of six layers, each kind with its own rope") {
  GgufWriter writer = wl::test::tiny_gguf("gemma3", 7);
  writer.add_f32("gemma3.rope.scaling.factor", 8.0f);
  const ModelConfig config = config_of(writer);
  WL_CHECK((windows_of(config) == std::vector<int>{16, 16, 16, 16, 16, 0, 16}));
  WL_CHECK((ropes_of(config) == std::vector<int>{1, 1, 1, 1, 1, 0, 1}));
  WL_CHECK_EQ(config.ropes[0].inv_freq[0], 0.125f);
  WL_CHECK_EQ(config.ropes[1].inv_freq[0], 1.0f);
  WL_CHECK(config.has_pre_norms && config.has_post_norms && !config.norm_adds_one);
  WL_CHECK(config.qk_norm == QkNorm::kPerHead);
  WL_CHECK(config.activation == MlpActivation::kGeluTanh);
  WL_CHECK_EQ(config.embedding_scale, 2.0f);
  WL_CHECK_EQ(config.attention_scale, static_cast<float>(1.0 / std::sqrt(2.0)));
  WL_CHECK_EQ(config.final_softcap, 0.0f);
}

WL_TEST("gguf architectures: gemma3 takes another period, a pattern, a soft cap and a local base") {
  GgufWriter writer = wl::test::tiny_gguf("gemma3", 4);
  writer.add_u32("gemma3.attention.sliding_window_pattern", 2);
  WL_CHECK((windows_of(config_of(writer)) == std::vector<int>{16, 0, 16, 0}));
  writer.add_numbers<uint8_t>("gemma3.attention.sliding_window_pattern", GgufType::kBool,
                              {0, 1, 1, 0});
  WL_CHECK((windows_of(config_of(writer)) == std::vector<int>{0, 16, 16, 0}));
  writer.add_f32("gemma3.final_logit_softcapping", 30.0f);
  WL_CHECK_EQ(config_of(writer).final_softcap, 30.0f);
  writer.add_numbers<uint8_t>("gemma3.attention.sliding_window_pattern", GgufType::kBool, {0, 1});
  WL_EXPECT_ERROR(read_model_config(OpenedModel(writer).file), "ERR_MODEL_FORMAT", "2 layers");
  writer = wl::test::tiny_gguf("gemma3");
  writer.remove("gemma3.attention.sliding_window");
  WL_EXPECT_ERROR(read_model_config(OpenedModel(writer).file), "ERR_MODEL_FORMAT",
                  "gemma3.attention.sliding_window is missing");
}

WL_TEST("gguf architectures: gemma3 of 62 layers scales queries by the hidden size") {
  WL_CHECK_EQ(config_of("gemma3", 61).attention_scale, static_cast<float>(1.0 / std::sqrt(2.0)));
  GgufWriter writer = wl::test::tiny_gguf("gemma3", 62);
  WL_CHECK_EQ(config_of(writer).attention_scale, static_cast<float>(1.0 / std::sqrt(4.0 / 2.0)));
}

WL_TEST("gguf architectures: phi3 cuts its fused tensors, slides when told to, and has longrope") {
  const OpenedModel model(wl::test::tiny_gguf("phi3"));
  const auto config = read_model_config(model.file);
  const auto weights = map_weights(model.file, config.value());
  WL_CHECK_EQ(wl::test::outcome(weights), "ok");
  if (!weights.ok()) return;
  const WeightEntry& q = weights.value().at("blk.1.attn_q.weight");
  const WeightEntry& v = weights.value().at("blk.1.attn_v.weight");
  WL_CHECK_EQ(q.file_name, "blk.1.attn_qkv.weight");
  WL_CHECK_EQ(v.rows, 2);
  WL_CHECK_EQ(v.bytes - q.bytes, (4 + 2) * 4 * 4);
  const WeightEntry& up = weights.value().at("blk.1.ffn_up.weight");
  WL_CHECK_EQ(up.bytes - weights.value().at("blk.1.ffn_gate.weight").bytes, 6 * 4 * 4);

  GgufWriter writer = wl::test::tiny_gguf("phi3");
  writer.add_u32("phi3.attention.sliding_window", 0);
  WL_CHECK((windows_of(config_of(writer)) == std::vector<int>{0, 0}));
  writer.add_u32("phi3.attention.sliding_window", 32);
  WL_CHECK((windows_of(config_of(writer)) == std::vector<int>{32, 32}));

  for (const char* name : {"rope_factors_long.weight", "rope_factors_short.weight"}) {
    writer.add_f32_tensor(name, {1});
    writer.tensors.back().bytes = wl::test::le_bytes(name[13] == 'l' ? 4.0f : 2.0f);
  }
  WL_EXPECT_ERROR(read_model_config(OpenedModel(writer).file), "ERR_MODEL_FORMAT",
                  "original_context_length is missing");
  writer.add_u32("phi3.rope.scaling.original_context_length", 16);
  const ModelConfig longrope = config_of(writer);
  WL_CHECK_EQ(longrope.ropes[0].scaling, "longrope");
  WL_CHECK(longrope.ropes[0].long_factors == std::vector<float>{4.0f});
  WL_CHECK(longrope.ropes[0].short_factors == std::vector<float>{2.0f});
  WL_CHECK_EQ(longrope.ropes[0].original_context, 16);
  WL_CHECK_EQ(longrope.ropes[0].inv_freq[0], 1.0f);
  WL_CHECK_EQ(longrope.ropes[0].magnitude, longrope_magnitude(64, 16));
  writer.add_f32("phi3.rope.scaling.attn_factor", 1.25f);
  WL_CHECK_EQ(config_of(writer).ropes[0].magnitude, 1.25f);
  writer.add_f32("phi3.rope.scaling.factor", 2.0f);
  WL_EXPECT_ERROR(read_model_config(OpenedModel(writer).file), "ERR_MODEL_ARCH",
                  "rope_factors_long");
  writer.remove("phi3.rope.scaling.factor");
  writer.remove_tensor("rope_factors_short.weight");
  WL_EXPECT_ERROR(read_model_config(OpenedModel(writer).file), "ERR_MODEL_TENSOR",
                  "rope_factors_short.weight is missing");
}

WL_TEST("gguf architectures: gpt-oss has sinks, experts, a window in even layers and exact yarn") {
  const ModelConfig config = config_of("gpt-oss", 4);
  WL_CHECK((windows_of(config) == std::vector<int>{16, 0, 16, 0}));
  WL_CHECK(config.has_sinks);
  WL_CHECK(config.activation == MlpActivation::kClampedSwiglu);
  WL_CHECK_EQ(config.swiglu_limit, 7.0f);
  WL_CHECK(config.moe.rule == ExpertRule::kTopThenSoftmax);
  WL_CHECK(config.layers[0].is_moe);
  WL_CHECK_EQ(config.ropes[0].scaling, "yarn");
  WL_CHECK_EQ(config.ropes[0].magnitude, yarn_magnitude(4.0, {}, {}));

  GgufWriter writer = wl::test::tiny_gguf("gpt-oss");
  writer.remove_tensor("blk.1.ffn_up_exps.bias");
  const OpenedModel model(writer);
  WL_EXPECT_ERROR(map_weights(model.file, read_model_config(model.file).value()),
                  "ERR_MODEL_TENSOR", "blk.1.ffn_up_exps.0.bias is missing");
}

WL_TEST("gguf architectures: gpt-oss' norm before the MLP and its experts under their own names") {
  const OpenedModel model(wl::test::tiny_gguf("gpt-oss"));
  const auto weights = map_weights(model.file, read_model_config(model.file).value()).value();
  WL_CHECK_EQ(weights.at("blk.0.ffn_norm.weight").file_name, "blk.0.post_attention_norm.weight");
  WL_CHECK(!weights.contains("blk.0.post_attention_norm.weight"));
  const WeightEntry& first = weights.at("blk.0.ffn_down_exps.0.weight");
  const WeightEntry& third = weights.at("blk.0.ffn_down_exps.2.weight");
  WL_CHECK_EQ(third.rows, 4);
  WL_CHECK_EQ(third.cols, 8);
  WL_CHECK_EQ(third.bytes - first.bytes, 2 * 4 * 8 * 4);
  const WeightEntry& bias = weights.at("blk.0.ffn_gate_exps.1.bias");
  WL_CHECK_EQ(bias.cols, 8);
  WL_CHECK_EQ(bias.bytes - weights.at("blk.0.ffn_gate_exps.0.bias").bytes, 8 * 4);
}

WL_TEST(
    "gguf architectures: a llama that counts experts is Mixtral, its experts one by one or "
    "stacked") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_u32("llama.expert_count", 3);
  writer.add_u32("llama.expert_used_count", 2);
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    for (const char* name : {"ffn_gate", "ffn_up", "ffn_down"}) {
      writer.remove_tensor(layer + name + ".weight");
      const bool is_down = std::string(name) == "ffn_down";
      const uint64_t rows = is_down ? 4 : 6, cols = is_down ? 6 : 4;
      for (const char* expert : {".0", ".1", ".2"}) {
        if (layer == "blk.0.")
          writer.add_f32_tensor(layer + name + expert + ".weight", {rows, cols});
      }
      if (layer == "blk.1.") writer.add_f32_tensor(layer + name + "_exps.weight", {3, rows, cols});
    }
    writer.add_f32_tensor(layer + "ffn_gate_inp.weight", {3, 4});
  }
  const ModelConfig config = config_of(writer);
  WL_CHECK(config.moe.rule == ExpertRule::kSoftmaxThenTopNormalized);
  WL_CHECK_EQ(config.moe.num_experts, 3);
  WL_CHECK_EQ(config.moe.num_used, 2);
  WL_CHECK_EQ(config.moe.ffn, 6);
  WL_CHECK(config.layers[0].is_moe && config.layers[1].is_moe);
  const OpenedModel model(writer);
  WL_CHECK_EQ(wl::test::outcome(map_weights(model.file, config)), "ok");
}

WL_TEST("gguf architectures: experts one by one, as old files have them, or gate and up in one") {
  GgufWriter writer = wl::test::tiny_gguf("qwen3moe");
  for (const char* layer : {"blk.0.", "blk.1."}) {
    writer.remove_tensor(std::string(layer) + "ffn_gate_exps.weight");
    writer.remove_tensor(std::string(layer) + "ffn_up_exps.weight");
  }
  for (const char* expert : {"0", "1", "2"}) {
    writer.add_f32_tensor(std::string("blk.0.ffn_gate.") + expert + ".weight", {8, 4});
    writer.add_f32_tensor(std::string("blk.0.ffn_up.") + expert + ".weight", {8, 4});
  }
  writer.add_f32_tensor("blk.1.ffn_gate_up_exps.weight", {3, 16, 4});
  const OpenedModel model(writer);
  const auto mapped = map_weights(model.file, read_model_config(model.file).value());
  WL_CHECK_EQ(wl::test::outcome(mapped), "ok");
  if (!mapped.ok()) return;
  WL_CHECK_EQ(mapped.value().at("blk.0.ffn_up_exps.2.weight").file_name, "blk.0.ffn_up.2.weight");
  const auto offset = [&](const char* name) {
    return mapped.value().at(name).bytes - mapped.value().at("blk.1.ffn_gate_exps.0.weight").bytes;
  };
  WL_CHECK_EQ(offset("blk.1.ffn_up_exps.0.weight"), 8 * 4 * 4);
  WL_CHECK_EQ(offset("blk.1.ffn_gate_exps.1.weight"), 16 * 4 * 4);
  WL_CHECK_EQ(offset("blk.1.ffn_up_exps.2.weight"), (2 * 16 + 8) * 4 * 4);
}

WL_TEST("gguf architectures: smollm3 leaves rope out of every fourth layer") {
  WL_CHECK((ropes_of(config_of("smollm3", 5)) == std::vector<int>{0, 0, 0, kNoRope, 0}));
}

WL_TEST("gguf architectures: olmo2 has norms after the sub-layers only") {
  const ModelConfig config = config_of("olmo2");
  WL_CHECK(!config.has_pre_norms && config.has_post_norms);
  WL_CHECK(config.qk_norm == QkNorm::kWholeWidth);
}

WL_TEST("gguf architectures: granite has four constants, of which the divisor must be there") {
  GgufWriter writer = wl::test::tiny_gguf("granite");
  const ModelConfig plain = config_of(writer);
  WL_CHECK_EQ(plain.logits_divisor, 8.0f);
  WL_CHECK_EQ(plain.embedding_scale, 1.0f);
  WL_CHECK_EQ(plain.residual_scale, 1.0f);
  WL_CHECK_EQ(plain.attention_scale, 1.0f / std::sqrt(2.0f));
  writer.add_f32("granite.embedding_scale", 12.0f);
  writer.add_f32("granite.residual_scale", 0.25f);
  writer.add_f32("granite.attention.scale", 0.5f);
  const ModelConfig config = config_of(writer);
  WL_CHECK_EQ(config.embedding_scale, 12.0f);
  WL_CHECK_EQ(config.residual_scale, 0.25f);
  WL_CHECK_EQ(config.attention_scale, 0.5f);
  writer.add_f32("granite.attention.scale", 0.0f);
  WL_CHECK_EQ(config_of(writer).attention_scale, 1.0f / std::sqrt(2.0f));
  writer.remove("granite.logit_scale");
  WL_EXPECT_ERROR(read_model_config(OpenedModel(writer).file), "ERR_MODEL_FORMAT",
                  "granite.logit_scale is missing");
}

WL_TEST("gguf architectures: yarn by its keys, and what it does not compute refused") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_text("llama.rope.scaling.type", "yarn");
  WL_EXPECT_ERROR(read_model_config(OpenedModel(writer).file), "ERR_MODEL_FORMAT",
                  "rope.scaling.factor is missing");
  writer.add_f32("llama.rope.scaling.factor", 4.0f);
  writer.add_f32("llama.rope.scaling.yarn_beta_fast", 16.0f);
  writer.add_f32("llama.rope.scaling.yarn_ext_factor", 1.0f);
  WL_CHECK_EQ(config_of(writer).ropes[0].magnitude, yarn_magnitude(4.0, {}, {}));
  writer.add_f32("llama.rope.scaling.yarn_attn_factor", 1.5f);
  WL_CHECK_EQ(config_of(writer).ropes[0].magnitude, 1.5f);
  writer.add_f32("llama.rope.scaling.yarn_ext_factor", 0.5f);
  WL_EXPECT_ERROR(read_model_config(OpenedModel(writer).file), "ERR_MODEL_ARCH", "yarn_ext_factor");
  writer.add_text("llama.rope.scaling.type", "dynamic");
  WL_EXPECT_ERROR(read_model_config(OpenedModel(writer).file), "ERR_MODEL_ARCH", "\"dynamic\"");
}
