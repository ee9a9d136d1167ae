#pragma once
// The smallest model of each architecture that loads, as a GGUF file: two heads of 2 on one KV
// head, two layers, three experts where there are any, a vocabulary of 5, all weights zero.

#include <string>

#include "loader/gguf_writer.h"
#include "loader/model_file.h"

namespace wl::test {

constexpr const char* kGgufArchitectures[] = {"llama", "qwen2",   "qwen3",   "qwen3moe", "gemma3",
                                              "phi3",  "gpt-oss", "smollm3", "olmo2",    "granite"};

inline void add_tiny_tokenizer(GgufWriter* writer) {
  writer->add_text("tokenizer.ggml.model", "gpt2");
  writer->add_text("tokenizer.ggml.pre", "smollm");
  writer->add_texts("tokenizer.ggml.tokens", {"<s>", "</s>", "a", "b", "ab"});
  writer->add_numbers<float>("tokenizer.ggml.scores", GgufType::kF32, {0, 0, -1, -2, -3});
  writer->add_numbers<int32_t>("tokenizer.ggml.token_type", GgufType::kI32, {3, 3, 1, 1, 1});
  writer->add_texts("tokenizer.ggml.merges", {"a b"});
  writer->add_u32("tokenizer.ggml.bos_token_id", 0);
  writer->add_u32("tokenizer.ggml.eos_token_id", 1);
  writer->add("tokenizer.ggml.add_bos_token", GgufType::kBool, uint8_t{0});
}

/// Builds the metadata and the tensors of one architecture.
class TinyGguf {
 public:
  static constexpr uint64_t kHidden = 4, kFfn = 6, kVocab = 5, kHeads = 2, kKv = 2, kHeadDim = 2,
                            kExperts = 3, kExpertFfn = 8;

  TinyGguf(const std::string& arch, uint64_t num_layers) : arch_(arch), num_layers_(num_layers) {}

  GgufWriter build() {
    add_metadata();
    add("token_embd.weight", {kVocab, kHidden});
    for (uint64_t layer = 0; layer < num_layers_; ++layer) {
      block_ = "blk." + std::to_string(layer) + ".";
      add_attention();
      if (has_experts()) {
        add_experts();
      } else {
        add_mlp();
      }
    }
    add("output_norm.weight", {kHidden});
    return writer_;
  }

 private:
  bool is(const std::string& name) const { return arch_ == name; }
  bool has_experts() const { return is("qwen3moe") || is("gpt-oss"); }

  void key(const std::string& suffix, uint32_t value) {
    writer_.add_u32(arch_ + "." + suffix, value);
  }
  void add(const std::string& name, std::vector<uint64_t> shape) {
    writer_.add_f32_tensor(name, std::move(shape));
  }
  void block(const std::string& name, std::vector<uint64_t> shape) {
    add(block_ + name, std::move(shape));
  }

  void add_metadata() {
    writer_.add_text("general.architecture", arch_);
    key("block_count", static_cast<uint32_t>(num_layers_));
    key("context_length", 64);
    key("embedding_length", kHidden);
    key("feed_forward_length", kFfn);
    key("attention.head_count", kHeads);
    key("attention.head_count_kv", 1);
    writer_.add_f32(arch_ + ".attention.layer_norm_rms_epsilon", 1e-5f);
    writer_.add_f32(arch_ + ".rope.freq_base", 10000.0f);
    if (has_experts()) {
      key("expert_count", kExperts);
      key("expert_used_count", 2);
      key("expert_feed_forward_length", kExpertFfn);
    }
    if (is("gemma3") || is("gpt-oss")) key("attention.sliding_window", 16);
    if (is("granite")) writer_.add_f32(arch_ + ".logit_scale", 8.0f);
    if (is("gpt-oss")) {
      writer_.add_text(arch_ + ".rope.scaling.type", "yarn");
      writer_.add_f32(arch_ + ".rope.scaling.factor", 4.0f);
      key("rope.scaling.original_context_length", 16);
    }
    add_tiny_tokenizer(&writer_);
  }

  void add_attention() {
    if (!is("olmo2")) block("attn_norm.weight", {kHidden});
    if (is("phi3")) {
      block("attn_qkv.weight", {kHidden + 2 * kKv, kHidden});
    } else {
      block("attn_q.weight", {kHidden, kHidden});
      block("attn_k.weight", {kKv, kHidden});
      block("attn_v.weight", {kKv, kHidden});
    }
    block("attn_output.weight", {kHidden, kHidden});
    if (is("qwen2") || is("gpt-oss")) {
      block("attn_q.bias", {kHidden});
      block("attn_k.bias", {kKv});
      block("attn_v.bias", {kKv});
    }
    if (is("qwen3") || is("qwen3moe") || is("gemma3")) {
      block("attn_q_norm.weight", {kHeadDim});
      block("attn_k_norm.weight", {kHeadDim});
    }
    if (is("olmo2")) {
      block("attn_q_norm.weight", {kHidden});
      block("attn_k_norm.weight", {kKv});
    }
    if (is("gpt-oss")) {
      block("attn_output.bias", {kHidden});
      block("attn_sinks.weight", {kHeads});
    }
    if (is("gemma3") || is("olmo2") || is("gpt-oss")) {
      block("post_attention_norm.weight", {kHidden});
    }
    if (is("gemma3") || is("olmo2")) block("post_ffw_norm.weight", {kHidden});
    if (!is("olmo2") && !is("gpt-oss")) block("ffn_norm.weight", {kHidden});
  }

  void add_mlp() {
    if (!is("phi3")) block("ffn_gate.weight", {kFfn, kHidden});
    block("ffn_up.weight", {is("phi3") ? 2 * kFfn : kFfn, kHidden});
    block("ffn_down.weight", {kHidden, kFfn});
  }

  void add_experts() {
    block("ffn_gate_inp.weight", {kExperts, kHidden});
    block("ffn_gate_exps.weight", {kExperts, kExpertFfn, kHidden});
    block("ffn_up_exps.weight", {kExperts, kExpertFfn, kHidden});
    block("ffn_down_exps.weight", {kExperts, kHidden, kExpertFfn});
    if (!is("gpt-oss")) return;
    block("ffn_gate_inp.bias", {kExperts});
    block("ffn_gate_exps.bias", {kExperts, kExpertFfn});
    block("ffn_up_exps.bias", {kExperts, kExpertFfn});
    block("ffn_down_exps.bias", {kExperts, kHidden});
  }

  std::string arch_;
  uint64_t num_layers_;
  std::string block_;
  GgufWriter writer_;
};

inline GgufWriter tiny_gguf(const std::string& arch, uint64_t num_layers = 2) {
  return TinyGguf(arch, num_layers).build();
}

}  // namespace wl::test
