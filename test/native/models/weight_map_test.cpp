#include "models/weight_map.h"
#include "check.h"
#include "models/hf_model.h"
#include "models/opened_model.h"
#include "models/tensor_names.h"
#include "models/tiny_model.h"

using wl::loader::TensorEntry;
using wl::models::WeightEntry;
using wl::test::GgufWriter;
using wl::test::HfModel;
using wl::test::OpenedModel;

namespace {

using Weights = std::map<std::string, WeightEntry>;

wl::Result<Weights> map_weights(const wl::loader::ModelFile& file) {
  const auto config = wl::models::read_model_config(file);
  WL_CHECK_EQ(wl::test::outcome(config), "ok");
  if (!config.ok()) return config.error();
  return wl::models::map_weights(file, config.value());
}

wl::Result<Weights> map_weights(const GgufWriter& writer) {
  return map_weights(OpenedModel(writer).file);
}

}  // namespace

WL_TEST("weights: a GGUF model maps under its own names, rope table left out") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.add_f32_tensor("rope_freqs.weight", {1});
  writer.tensors.back().bytes = wl::test::le_bytes(1.0f);
  const auto weights = map_weights(writer);
  WL_CHECK_EQ(wl::test::outcome(weights), "ok");
  if (weights.ok()) WL_CHECK_EQ(weights.value().size(), size_t{20});
}

WL_TEST("weights: an HF model maps to the same names, multimodal prefixes stripped") {
  const HfModel model = wl::test::tiny_hf("llama");
  wl::loader::ModelFile file = model.file();
  const auto weights = map_weights(file);
  WL_CHECK_EQ(wl::test::outcome(weights), "ok");
  if (weights.ok()) WL_CHECK(weights.value().contains("blk.1.ffn_down.weight"));

  for (const bool is_inside_model : {false, true}) {
    wl::loader::ModelFile nested = file;
    for (TensorEntry& tensor : nested.tensors) {
      if (!is_inside_model) {
        tensor.name = "language_model." + tensor.name;
      } else if (tensor.name.starts_with("model.")) {
        tensor.name = "model.language_model." + tensor.name.substr(6);
      }
    }
    nested.tensors.push_back({"model.visual.patch_embed.weight", 0, {1, 2, 3, 4, 5}, nullptr, 0});
    nested.tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", 0, {1}, nullptr, 0});
    WL_CHECK_EQ(wl::test::outcome(map_weights(nested)), "ok");
  }
}

WL_TEST("weights: a tied model keeps the embedding as its head, whatever copy the file has") {
  HfModel model = wl::test::tiny_hf("llama");
  model.set("tie_word_embeddings", "true");
  const auto tied = map_weights(model.file());
  WL_CHECK_EQ(wl::test::outcome(tied), "ok");
  if (tied.ok()) WL_CHECK(!tied.value().contains("output.weight"));

  model.set("tie_word_embeddings", "false");
  WL_CHECK(map_weights(model.file()).value().contains("output.weight"));
  model.remove_tensor("lm_head.weight");
  WL_EXPECT_ERROR(map_weights(model.file()), "ERR_MODEL_TENSOR", "output.weight is missing");
  model.remove("tie_word_embeddings");
  WL_CHECK_EQ(wl::test::outcome(map_weights(model.file())), "ok");

  GgufWriter untied = wl::test::tiny_gguf("llama");
  untied.add_f32_tensor("output.weight", {5, 4});
  WL_CHECK(map_weights(untied).value().contains("output.weight"));
}

WL_TEST("weights: a missing tensor is named") {
  for (const char* name : {"blk.1.attn_k.weight", "output_norm.weight", "token_embd.weight"}) {
    GgufWriter writer = wl::test::tiny_gguf("llama");
    writer.remove_tensor(name);
    WL_EXPECT_ERROR(map_weights(writer), "ERR_MODEL_TENSOR", std::string(name) + " is missing");
  }
  GgufWriter no_bias = wl::test::tiny_gguf("qwen2");
  no_bias.remove_tensor("blk.1.attn_v.bias");
  WL_EXPECT_ERROR(map_weights(no_bias), "ERR_MODEL_TENSOR", "blk.1.attn_v.bias is missing");
}

WL_TEST("weights: an unknown tensor is named, a bias that the architecture may have is kept") {
  GgufWriter unknown = wl::test::tiny_gguf("llama");
  unknown.add_f32_tensor("blk.0.attn_q_norm.weight", {2});
  WL_EXPECT_ERROR(map_weights(unknown), "ERR_MODEL_TENSOR", "\"blk.0.attn_q_norm.weight\"");
  GgufWriter biased = wl::test::tiny_gguf("llama");
  biased.add_f32_tensor("blk.0.ffn_down.bias", {4});
  WL_CHECK(map_weights(biased).value().contains("blk.0.ffn_down.bias"));
}

WL_TEST("weights: shapes must be the configuration's, leading ones aside") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  writer.tensor("blk.0.attn_q.weight").dims = {2, 8};
  WL_EXPECT_ERROR(map_weights(writer), "ERR_MODEL_TENSOR",
                  "blk.0.attn_q.weight has shape [8, 2], the configuration asks for [4, 4]");
  GgufWriter vocab = wl::test::tiny_gguf("llama");
  vocab.add_u32("llama.vocab_size", 6);
  WL_EXPECT_ERROR(map_weights(vocab), "ERR_MODEL_TENSOR", "token_embd.weight has shape [5, 4]");
  GgufWriter ones = wl::test::tiny_gguf("llama");
  ones.tensor("output_norm.weight").dims = {4, 1, 1};
  WL_CHECK_EQ(wl::test::outcome(map_weights(ones)), "ok");
}

WL_TEST("weights: an unsupported type is refused with the nearest types that work") {
  const OpenedModel model(wl::test::tiny_gguf("llama"));
  const struct {
    uint32_t type;
    int64_t row;
    const char* expected;
  } kCases[] = {{28, 4, "is F64, not supported; use F32"},
                {40, 64, "is NVFP4, not supported; use Q4_0 or IQ4_NL"},
                {22, 256, "is IQ2_S, not supported; use Q3_K or Q2_K"},
                {18, 256, "is IQ3_XXS, not supported; use IQ4_XS or Q3_K"}};
  for (const auto& [type, row, expected] : kCases) {
    wl::loader::ModelFile file = model.file;
    file.tensors[3].ggml_type = type;
    file.tensors[3].shape = {1, row};
    WL_EXPECT_ERROR(map_weights(file), "ERR_MODEL_TYPE",
                    "blk.0.attn_k.weight " + std::string(expected));
  }
}

WL_TEST("weights: a safetensors file of another type is told the types that such files may have") {
  HfModel model = wl::test::tiny_hf("llama");
  wl::loader::ModelFile file = model.file();
  file.tensors[0].ggml_type = *wl::dtype_from_safetensors("F8_E4M3");
  WL_EXPECT_ERROR(map_weights(file), "ERR_MODEL_TYPE",
                  "model.embed_tokens.weight is F8_E4M3, not supported; use F16 or BF16");
}

WL_TEST("weights: norms may be of any supported type") {
  GgufWriter writer = wl::test::tiny_gguf("llama");
  wl::test::GgufTensor& norm = writer.tensor("output_norm.weight");
  norm.type = 1;
  norm.bytes.resize(8);
  WL_CHECK_EQ(wl::test::outcome(map_weights(writer)), "ok");
}

WL_TEST("weights: layer numbers are read strictly") {
  const auto target = [](const std::string& name) {
    const auto place = wl::models::place_of(wl::loader::Container::kSafetensors, name, {});
    return place ? place->target_name(place->rule->targets[0], {}) : "";
  };
  WL_CHECK_EQ(target("model.layers.10.mlp.up_proj.weight"), "blk.10.ffn_up.weight");
  WL_CHECK_EQ(target("model.layers.0.mlp.experts.12.up_proj.weight"),
              "blk.0.ffn_up_exps.12.weight");
  for (const char* name :
       {"model.layers.01.mlp.up_proj.weight", "model.layers.-1.mlp.up_proj.weight",
        "model.layers.99999999999.mlp.up_proj.weight", "model.layers.2147483647.mlp.up_proj.weight",
        "model.layers..mlp.up_proj.weight", "model.layers.1", "model.layers.1.mlp.up_proj",
        "mlp.up_proj.weight", "model.layers.1.mlp.experts.01.up_proj.weight",
        "model.layers.1.mlp.experts.1up_proj.weight", "model.layers.1.mlp.experts.1.up_proj"}) {
    WL_CHECK_EQ(target(name), "");
  }
}
