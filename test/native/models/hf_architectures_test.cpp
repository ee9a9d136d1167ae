// Every architecture as its HF checkpoints have it: features, windows, ropes and the tensors behind
// them, cut up where they are fused.

#include <cmath>
#include <cstring>

#include "check.h"
#include "loader/expect_error.h"
#include "models/hf_model.h"
#include "models/rope_scaling.h"
#include "models/weight_map.h"

using namespace wl::models;
using wl::test::HfModel;
using wl::test::tiny_hf;

namespace {

ModelConfig config_of(const HfModel& model) {
  const auto config = read_model_config(model.file());
  WL_CHECK_EQ(wl::test::outcome(config), "ok");
  return config.ok() ? config.value() : ModelConfig{};
}

using Weights = std::map<std::string, WeightEntry>;

wl::Result<Weights> weights_of(const HfModel& model) {
  return map_weights(model.file(), config_of(model));
}

/// The entries point into the model.
wl::Result<Weights> weights_of(HfModel&& model) = delete;

std::vector<int> windows_of(const HfModel& model) {
  std::vector<int> windows;
  for (const LayerConfig& layer : config_of(model).layers) windows.push_back(layer.window);
  return windows;
}

/// Elements of an F32 entry; in HfModel they are their own index in the file's tensor.
std::vector<float> floats_of(const Weights& weights, const std::string& name) {
  const WeightEntry& entry = weights.at(name);
  std::vector<float> floats(entry.num_bytes() / sizeof(float));
  copy_rows(entry, reinterpret_cast<uint8_t*>(floats.data()));
  return floats;
}

}  // namespace

WL_TEST("hf architectures: every model_type reads and maps, rotating halves") {
  const std::pair<const char*, const char*> kTypes[] = {
      {"llama", "llama"}, {"mistral", "llama"},      {"qwen2", "qwen2"},
      {"qwen3", "qwen3"}, {"qwen3_moe", "qwen3moe"}, {"gemma3_text", "gemma3"},
      {"phi3", "phi3"},   {"gpt_oss", "gpt-oss"},    {"smollm3", "smollm3"},
      {"olmo2", "olmo2"}, {"granite", "granite"},    {"mixtral", "llama"}};
  for (const auto& [type, arch] : kTypes) {
    const HfModel model = tiny_hf(type);
    const ModelConfig config = config_of(model);
    WL_CHECK_EQ(config.arch, arch);
    WL_CHECK(config.ropes[0].pairing == RopePairing::kHalves);
    WL_CHECK_EQ(wl::test::outcome(weights_of(model)), "ok");
  }
}

WL_TEST("hf architectures: mistral's window is in every layer, or in none") {
  HfModel model = tiny_hf("mistral");
  WL_CHECK((windows_of(model) == std::vector<int>{0, 0}));
  model.set("sliding_window", "16");
  WL_CHECK((windows_of(model) == std::vector<int>{16, 16}));
  model.set("layer_types", R"(["full_attention","sliding_attention"])");
  WL_CHECK((windows_of(model) == std::vector<int>{0, 16}));
  model.set("sliding_window", "null");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_FORMAT", "sliding_window is missing");
}

WL_TEST("hf architectures: mixtral is mistral with experts, which must be counted") {
  HfModel model = tiny_hf("mixtral");
  WL_CHECK_EQ(config_of(model).moe.num_experts, 3);
  WL_CHECK((windows_of(model) == std::vector<int>{0, 0}));
  model.set("sliding_window", "16");
  WL_CHECK((windows_of(model) == std::vector<int>{16, 16}));
  model.remove("num_local_experts");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_FORMAT",
                  "num_local_experts is missing");
}

WL_TEST("hf architectures: qwen's upper layers slide when its config says so") {
  for (const char* type : {"qwen2", "qwen3", "qwen3_moe"}) {
    HfModel model = tiny_hf(type, 3);
    model.set("sliding_window", "16");
    model.set("max_window_layers", "2");
    model.set("use_sliding_window", "false");
    WL_CHECK((windows_of(model) == std::vector<int>{0, 0, 0}));
    model.set("use_sliding_window", "true");
    WL_CHECK((windows_of(model) == std::vector<int>{0, 0, 16}));
    model.set("layer_types", R"(["sliding_attention","full_attention","full_attention"])");
    WL_CHECK((windows_of(model) == std::vector<int>{16, 0, 0}));
    model.set("use_sliding_window", "false");
    WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_ARCH", "layer_types");
  }
}

WL_TEST("hf architectures: qwen3_moe says how it weighs experts and which layers are dense") {
  HfModel model = tiny_hf("qwen3_moe", 4);
  WL_CHECK(config_of(model).moe.rule == ExpertRule::kSoftmaxThenTopNormalized);
  model.set("norm_topk_prob", "false");
  WL_CHECK(config_of(model).moe.rule == ExpertRule::kSoftmaxThenTop);
  model.set("mlp_only_layers", "[3]");
  model.set("decoder_sparse_step", "2");
  const ModelConfig config = config_of(model);
  WL_CHECK(!config.layers[0].is_moe && config.layers[1].is_moe);
  WL_CHECK(!config.layers[2].is_moe && !config.layers[3].is_moe);
  model.remove("norm_topk_prob");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_FORMAT", "norm_topk_prob is missing");
  model.set("norm_topk_prob", "true");
  model.set("num_experts_per_tok", "4");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_FORMAT", "num_experts_per_tok is 4");
  model.set("num_experts_per_tok", "2");
  model.set("shared_expert_intermediate_size", "64");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_ARCH",
                  "shared_expert_intermediate_size is 64");
}

WL_TEST("hf architectures: qwen3_moe's experts may be stacked, gate rows before up rows") {
  HfModel model = tiny_hf("qwen3_moe", 1);
  for (const char* expert : {"0", "1", "2"}) {
    for (const char* part : {"gate_proj", "up_proj", "down_proj"}) {
      model.remove_tensor(std::string("model.layers.0.mlp.experts.") + expert + "." + part +
                          ".weight");
    }
  }
  model.add("model.layers.0.mlp.experts.gate_up_proj", {3, 128, 32});
  model.add("model.layers.0.mlp.experts.down_proj", {3, 32, 64});
  const auto weights = weights_of(model);
  WL_CHECK_EQ(wl::test::outcome(weights), "ok");
  if (!weights.ok()) return;
  WL_CHECK_EQ(floats_of(weights.value(), "blk.0.ffn_gate_exps.1.weight")[0], 128 * 32.0f);
  WL_CHECK_EQ(floats_of(weights.value(), "blk.0.ffn_up_exps.1.weight")[1], (128 + 64) * 32.0f + 1);
  WL_CHECK_EQ(floats_of(weights.value(), "blk.0.ffn_down_exps.2.weight")[0], 2 * 32 * 64.0f);
}

WL_TEST("hf architectures: gemma3 stores norms less one and says its query scale") {
  HfModel model = tiny_hf("gemma3_text", 7);
  ModelConfig config = config_of(model);
  WL_CHECK(config.norm_adds_one);
  WL_CHECK_EQ(config.attention_scale, 0.5f);
  WL_CHECK_EQ(config.embedding_scale, std::sqrt(32.0f));
  WL_CHECK((windows_of(model) == std::vector<int>{16, 16, 16, 16, 16, 0, 16}));
  const auto weights = weights_of(model).value();
  WL_CHECK_EQ(weights.at("blk.0.ffn_norm.weight").file_name,
              "model.layers.0.pre_feedforward_layernorm.weight");
  WL_CHECK_EQ(weights.at("blk.0.post_attention_norm.weight").file_name,
              "model.layers.0.post_attention_layernorm.weight");
  model.set("hidden_activation", "\"gelu\"");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_ARCH", "hidden_activation");
  model.remove("query_pre_attn_scalar");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_FORMAT", "query_pre_attn_scalar");
}

WL_TEST("hf architectures: gemma3's two ropes, in the classic and in the newer form") {
  HfModel model = tiny_hf("gemma3_text", 6);
  model.set("rope_theta", "10000");
  model.set("rope_local_base_freq", "2500");
  model.set("rope_scaling", R"({"factor":8.0,"rope_type":"linear"})");
  const auto check = [&] {
    const ModelConfig config = config_of(model);
    WL_CHECK_EQ(config.ropes[0].inv_freq[2], 0.01f / 8);  // of 4: 1 / sqrt(base)
    WL_CHECK_EQ(config.ropes[1].inv_freq[2], 0.02f);
    WL_CHECK_EQ(config.layers[0].rope, 1);
    WL_CHECK_EQ(config.layers[5].rope, 0);
  };
  check();
  for (const char* name : {"rope_theta", "rope_local_base_freq", "rope_scaling"})
    model.remove(name);
  model.set("rope_parameters",
            R"({"full_attention":{"factor":8.0,"rope_theta":10000,"rope_type":"linear"},)"
            R"("sliding_attention":{"rope_theta":2500,"rope_type":"default"}})");
  check();
  model.set("rope_parameters", R"({"full_attention":{"rope_theta":10000},)"
                               R"("sliding_attention":{"rope_type":"linear","factor":2}})");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_ARCH", "sliding layers");
}

WL_TEST("hf architectures: a multimodal gemma3 nests its text model") {
  HfModel outer;
  HfModel inner = tiny_hf("gemma3_text", 1);
  outer.set("model_type", "\"gemma3\"");
  outer.set("text_config", inner.config_json());
  wl::loader::ModelFile file = inner.file();
  file.config_json = outer.config_json();
  for (auto& tensor : file.tensors) tensor.name = "language_model." + tensor.name;
  file.tensors.push_back({"vision_tower.x.weight", 0, {1}, nullptr, 0});
  const auto config = read_model_config(file);
  WL_CHECK_EQ(wl::test::outcome(config), "ok");
  if (config.ok()) WL_CHECK_EQ(wl::test::outcome(map_weights(file, config.value())), "ok");
}

WL_TEST("hf architectures: phi3 has longrope and a share of each head that rotates") {
  HfModel model = tiny_hf("phi3");
  model.set("partial_rotary_factor", "0.5");
  model.set("rope_scaling", R"({"type":"longrope","long_factor":[4,8],"short_factor":[1.0,1.5]})");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_FORMAT",
                  "original_max_position_embeddings is missing");
  model.set("original_max_position_embeddings", "16");
  const RopeConfig rope = config_of(model).ropes[0];
  WL_CHECK_EQ(rope.rotary_dims, 4);
  WL_CHECK((rope.long_factors == std::vector<float>{4.0f, 8.0f}));
  WL_CHECK((rope.short_factors == std::vector<float>{1.0f, 1.5f}));
  WL_CHECK_EQ(rope.original_context, 16);
  WL_CHECK_EQ(rope.magnitude, longrope_magnitude(64, 16));
  model.set("rope_scaling", R"({"type":"su","long_factor":[4],"short_factor":[1.0,1.5]})");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_TENSOR", "long_factor");
  model.set("rope_scaling", R"({"type":"longrope","long_factor":[4,8],"short_factor":[1.0,1.5],)"
                            R"("short_mscale":1.2})");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_ARCH", "short_mscale is 1.2");
}

WL_TEST("hf architectures: phi3's fused rows come apart in order") {
  const HfModel model = tiny_hf("phi3");
  const auto weights = weights_of(model).value();
  WL_CHECK_EQ(floats_of(weights, "blk.0.attn_k.weight")[0], 16 * 32.0f);
  WL_CHECK_EQ(floats_of(weights, "blk.0.attn_v.weight")[0], 24 * 32.0f);
  WL_CHECK_EQ(floats_of(weights, "blk.1.ffn_up.weight")[0], 64 * 32.0f);
}

WL_TEST("hf architectures: gpt-oss' unquantised experts are transposed, gate and up taking turns") {
  const HfModel model = tiny_hf("gpt_oss", 1);
  const auto weights = weights_of(model).value();
  // gate_up_proj [3, 32, 128]: input i of row r of gate is element (i, 2r), of up (i, 2r + 1).
  const auto element = [](int expert, int input, int output) {
    return static_cast<float>((expert * 32 + input) * 128 + output);
  };
  const auto gate = floats_of(weights, "blk.0.ffn_gate_exps.1.weight");
  const auto up = floats_of(weights, "blk.0.ffn_up_exps.2.weight");
  WL_CHECK_EQ(gate.size(), size_t{64 * 32});
  WL_CHECK_EQ(gate[0], element(1, 0, 0));
  WL_CHECK_EQ(gate[1], element(1, 1, 0));
  WL_CHECK_EQ(gate[32], element(1, 0, 2));
  WL_CHECK_EQ(up[32 * 63 + 31], element(2, 31, 127));
  const auto bias = floats_of(weights, "blk.0.ffn_up_exps.1.bias");
  WL_CHECK_EQ(bias[0], 128.0f + 1);
  WL_CHECK_EQ(bias[63], 128.0f + 127);
  // down_proj [3, 64, 32]
  const auto down = floats_of(weights, "blk.0.ffn_down_exps.1.weight");
  WL_CHECK_EQ(down[1], 64 * 32 + 32.0f);
  WL_CHECK_EQ(down[64], 64 * 32 + 1.0f);
  WL_CHECK_EQ(floats_of(weights, "blk.0.attn_sinks.weight").size(), size_t{2});
  WL_CHECK_EQ(weights.at("blk.0.ffn_norm.weight").file_name,
              "model.layers.0.post_attention_layernorm.weight");
}

namespace {

HfModel mxfp4_gpt_oss() {
  HfModel model = tiny_hf("gpt_oss", 1);
  model.set("quantization_config", R"({"quant_method":"mxfp4"})");
  model.remove_tensor("model.layers.0.mlp.experts.gate_up_proj");
  model.remove_tensor("model.layers.0.mlp.experts.down_proj");
  model.add_bytes("model.layers.0.mlp.experts.gate_up_proj_blocks", {3, 128, 1, 16});
  model.add_bytes("model.layers.0.mlp.experts.gate_up_proj_scales", {3, 128, 1});
  model.add_bytes("model.layers.0.mlp.experts.down_proj_blocks", {3, 32, 2, 16});
  model.add_bytes("model.layers.0.mlp.experts.down_proj_scales", {3, 32, 2});
  return model;
}

}  // namespace

WL_TEST("hf architectures: gpt-oss' MXFP4 experts keep their blocks, row by row") {
  HfModel model = mxfp4_gpt_oss();
  if (!wl::dtype_traits(wl::DType::kMXFP4).is_supported) return;
  const auto mapped = weights_of(model);
  WL_CHECK_EQ(wl::test::outcome(mapped), "ok");
  if (!mapped.ok()) return;
  const WeightEntry& up = mapped.value().at("blk.0.ffn_up_exps.1.weight");
  WL_CHECK_EQ(up.rows, 64);
  WL_CHECK_EQ(up.cols, 32);
  std::vector<uint8_t> rows(up.num_bytes());
  copy_rows(up, rows.data());
  // Row 3 of up is row 7 of the expert's 128.
  const uint8_t* row = rows.data() + 3 * 17;
  WL_CHECK_EQ(row[0], (128 + 7) % 256);
  const int first = (128 + 7) * 16 % 256;  // byte k holds elements 2k and 2k + 1
  WL_CHECK_EQ(row[1], (first & 15) | ((first + 8) & 15) << 4);
  WL_CHECK_EQ(row[2], first >> 4 | (first + 8) >> 4 << 4);
  const WeightEntry& down = mapped.value().at("blk.0.ffn_down_exps.2.weight");
  WL_CHECK_EQ(down.cols, 64);
  WL_CHECK_EQ(down.scales[1], (2 * 32 * 2 + 1) % 256);

  model.remove_tensor("model.layers.0.mlp.experts.down_proj_scales");
  WL_EXPECT_ERROR(weights_of(model), "ERR_MODEL_TENSOR", "down_proj_scales is missing");
  model.remove_tensor("model.layers.0.mlp.experts.gate_up_proj_blocks");
  WL_EXPECT_ERROR(weights_of(model), "ERR_MODEL_TENSOR", "gate_up_proj_blocks is missing");
}

WL_TEST(
    "hf architectures: gpt-oss alternates windows, limits SwiGLU and rounds yarn only if told") {
  HfModel model = tiny_hf("gpt_oss", 4);
  model.set("swiglu_limit", "5.0");
  model.set("rope_theta", "150000");
  const std::string yarn =
      R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":10000,"beta_fast":256)";
  model.set("rope_scaling", yarn + "}");
  const ModelConfig config = config_of(model);
  WL_CHECK((windows_of(model) == std::vector<int>{16, 0, 16, 0}));
  WL_CHECK_EQ(config.swiglu_limit, 5.0f);
  WL_CHECK_EQ(config.moe.ffn, 64);
  const YarnScaling scaling{
      .factor = 4.0, .original_context = 10000.0, .beta_fast = 256.0, .is_truncated = false};
  WL_CHECK(config.ropes[0].inv_freq == yarn_frequencies(scaling, 150000.0, 8));
  model.set("rope_scaling", yarn + R"(,"truncate":true})");
  WL_CHECK(config_of(model).ropes[0].inv_freq != config.ropes[0].inv_freq);
}

WL_TEST("hf architectures: smollm3's layers without rope, listed or every so many") {
  HfModel model = tiny_hf("smollm3", 4);
  const auto ropes = [&] {
    std::vector<int> out;
    for (const LayerConfig& layer : config_of(model).layers) out.push_back(layer.rope);
    return out;
  };
  WL_CHECK((ropes() == std::vector<int>{0, 0, 0, kNoRope}));
  model.set("no_rope_layer_interval", "2");
  WL_CHECK((ropes() == std::vector<int>{0, kNoRope, 0, kNoRope}));
  model.set("no_rope_layers", "[0,1,1,1]");
  WL_CHECK((ropes() == std::vector<int>{kNoRope, 0, 0, 0}));
  model.set("no_rope_layers", "[0,1]");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_FORMAT", "no_rope_layers has 2");
  model.remove("no_rope_layers");
  model.set("use_sliding_window", "true");
  model.set("sliding_window", "16");
  WL_EXPECT_ERROR(read_model_config(model.file()), "ERR_MODEL_ARCH", "sliding_window is 16");
}

WL_TEST("hf architectures: olmo2's norms and granite's constants") {
  const HfModel model = tiny_hf("olmo2");
  const auto weights = weights_of(model).value();
  WL_CHECK_EQ(weights.at("blk.0.attn_q_norm.weight").cols, 16);
  WL_CHECK(!weights.contains("blk.0.ffn_norm.weight"));
  HfModel granite = tiny_hf("granite");
  WL_CHECK_EQ(config_of(granite).attention_scale, 1.0f);  // HF's own default
  granite.set("embedding_multiplier", "12.0");
  granite.set("attention_multiplier", "0.25");
  granite.set("residual_multiplier", "0.5");
  granite.set("logits_scaling", "8.0");
  const ModelConfig config = config_of(granite);
  WL_CHECK_EQ(config.embedding_scale, 12.0f);
  WL_CHECK_EQ(config.attention_scale, 0.25f);
  WL_CHECK_EQ(config.residual_scale, 0.5f);
  WL_CHECK_EQ(config.logits_divisor, 8.0f);
}
