#pragma once
// Small HF checkpoints in memory: a config.json member by member, and F32 tensors that count
// upwards (the n-th element of every tensor is n) so that a test sees which element went where.

#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "loader/model_file.h"

namespace wl::test {

class HfModel {
 public:
  /// `json` is the member's value as JSON text.
  void set(const std::string& name, const std::string& json) { config_[name] = json; }
  void remove(const std::string& name) { config_.erase(name); }

  void add(const std::string& name, std::vector<int64_t> shape) {
    loader::TensorEntry entry{name, 0, std::move(shape), nullptr, 0};
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < entry.num_elements(); ++i) {
      const auto value = static_cast<float>(i);
      const size_t end = bytes.size();
      bytes.resize(end + sizeof value);
      std::memcpy(bytes.data() + end, &value, sizeof value);
    }
    add_entry(std::move(entry), std::move(bytes));
  }

  /// U8, counting upwards modulo 256.
  void add_bytes(const std::string& name, std::vector<int64_t> shape) {
    loader::TensorEntry entry{name, *dtype_from_safetensors("U8"), std::move(shape), nullptr, 0};
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < entry.num_elements(); ++i) bytes.push_back(static_cast<uint8_t>(i));
    add_entry(std::move(entry), std::move(bytes));
  }

  void remove_tensor(const std::string& name) {
    std::erase_if(tensors_, [&](const auto& tensor) { return tensor.name == name; });
  }

  std::string config_json() const {
    std::string text;
    for (const auto& [name, json] : config_) {
      text += text.empty() ? "{" : ",";
      text += quote_bytes(name) + ":" + json;
    }
    return text + "}";
  }

  /// Valid as long as the model.
  loader::ModelFile file() const {
    loader::ModelFile file;
    file.container = loader::Container::kSafetensors;
    file.config_json = config_json();
    file.tensors = tensors_;
    return file;
  }

 private:
  void add_entry(loader::TensorEntry entry, std::vector<uint8_t> bytes) {
    bytes_.push_back(std::move(bytes));
    entry.bytes = bytes_.back().data();
    entry.num_bytes = bytes_.back().size();
    tensors_.push_back(std::move(entry));
  }

  std::map<std::string, std::string> config_;
  std::vector<loader::TensorEntry> tensors_;
  std::list<std::vector<uint8_t>> bytes_;
};

/// Builds the config and the tensors of one model_type.
class TinyHf {
 public:
  static constexpr int64_t kHidden = 32, kFfn = 64, kVocab = 5, kQ = 16, kKv = 8, kHeadDim = 8,
                           kExperts = 3, kExpertFfn = 64;

  TinyHf(const std::string& model_type, int num_layers) : type_(model_type), layers_(num_layers) {}

  HfModel build() {
    add_config();
    model_.add("model.embed_tokens.weight", {kVocab, kHidden});
    for (int layer = 0; layer < layers_; ++layer) {
      block_ = "model.layers." + std::to_string(layer) + ".";
      add_attention();
      add_mlp();
    }
    model_.add("model.norm.weight", {kHidden});
    model_.add("lm_head.weight", {kVocab, kHidden});
    return std::move(model_);
  }

 private:
  bool is(const std::string& name) const { return type_ == name; }
  void add(const std::string& name, std::vector<int64_t> shape) {
    model_.add(block_ + name, std::move(shape));
  }
  void number(const std::string& name, int64_t value) { model_.set(name, std::to_string(value)); }

  void add_config() {
    model_.set("model_type", "\"" + type_ + "\"");
    number("num_hidden_layers", layers_);
    number("hidden_size", kHidden);
    number("intermediate_size", kFfn);
    number("num_attention_heads", 2);
    number("num_key_value_heads", 1);
    number("head_dim", kHeadDim);
    number("vocab_size", kVocab);
    number("max_position_embeddings", 64);
    model_.set("rms_norm_eps", "1e-06");
    if (is("qwen3_moe")) {
      number("num_experts", kExperts);
      number("moe_intermediate_size", kExpertFfn);
      model_.set("norm_topk_prob", "true");
    }
    if (is("gpt_oss") || is("mixtral")) number("num_local_experts", kExperts);
    if (is("qwen3_moe") || is("gpt_oss") || is("mixtral")) number("num_experts_per_tok", 2);
    if (is("gpt_oss") || is("gemma3_text")) number("sliding_window", 16);
    if (is("gemma3_text")) {
      number("query_pre_attn_scalar", 4);
      model_.set("hidden_activation", "\"gelu_pytorch_tanh\"");
    }
  }

  void add_attention() {
    const bool is_qwen3 = is("qwen3") || is("qwen3_moe");
    if (!is("olmo2")) add("input_layernorm.weight", {kHidden});
    if (is("phi3")) {
      add("self_attn.qkv_proj.weight", {kQ + 2 * kKv, kHidden});
    } else {
      add("self_attn.q_proj.weight", {kQ, kHidden});
      add("self_attn.k_proj.weight", {kKv, kHidden});
      add("self_attn.v_proj.weight", {kKv, kHidden});
    }
    add("self_attn.o_proj.weight", {kHidden, kQ});
    if (is("qwen2") || is("gpt_oss")) {
      add("self_attn.q_proj.bias", {kQ});
      add("self_attn.k_proj.bias", {kKv});
      add("self_attn.v_proj.bias", {kKv});
    }
    if (is("gpt_oss")) {
      add("self_attn.o_proj.bias", {kHidden});
      add("self_attn.sinks", {2});
    }
    if (is_qwen3 || is("gemma3_text") || is("olmo2")) {
      add("self_attn.q_norm.weight", {is("olmo2") ? kQ : kHeadDim});
      add("self_attn.k_norm.weight", {kHeadDim});
    }
    add("post_attention_layernorm.weight", {kHidden});
    if (is("gemma3_text")) add("pre_feedforward_layernorm.weight", {kHidden});
    if (is("gemma3_text") || is("olmo2")) add("post_feedforward_layernorm.weight", {kHidden});
  }

  void add_mlp() {
    if (is("gpt_oss")) return add_gpt_oss_experts();
    if (is("qwen3_moe")) {
      add("mlp.gate.weight", {kExperts, kHidden});
      for (int64_t i = 0; i < kExperts; ++i) add_gated("mlp.experts." + std::to_string(i) + ".");
    } else if (is("mixtral")) {
      add("block_sparse_moe.gate.weight", {kExperts, kHidden});
      for (int64_t i = 0; i < kExperts; ++i) {
        const std::string expert = "block_sparse_moe.experts." + std::to_string(i);
        add(expert + ".w1.weight", {kFfn, kHidden});
        add(expert + ".w2.weight", {kHidden, kFfn});
        add(expert + ".w3.weight", {kFfn, kHidden});
      }
    } else if (is("phi3")) {
      add("mlp.gate_up_proj.weight", {2 * kFfn, kHidden});
      add("mlp.down_proj.weight", {kHidden, kFfn});
    } else {
      add_gated("mlp.");
    }
  }

  void add_gated(const std::string& prefix) {
    add(prefix + "gate_proj.weight", {kFfn, kHidden});
    add(prefix + "up_proj.weight", {kFfn, kHidden});
    add(prefix + "down_proj.weight", {kHidden, kFfn});
  }

  void add_gpt_oss_experts() {
    add("mlp.router.weight", {kExperts, kHidden});
    add("mlp.router.bias", {kExperts});
    add("mlp.experts.gate_up_proj", {kExperts, kHidden, 2 * kFfn});
    add("mlp.experts.gate_up_proj_bias", {kExperts, 2 * kFfn});
    add("mlp.experts.down_proj", {kExperts, kFfn, kHidden});
    add("mlp.experts.down_proj_bias", {kExperts, kHidden});
  }

  std::string type_;
  int layers_;
  std::string block_;
  HfModel model_;
};

inline HfModel tiny_hf(const std::string& model_type, int num_layers = 2) {
  return TinyHf(model_type, num_layers).build();
}

}  // namespace wl::test
