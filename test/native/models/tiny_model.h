#pragma once
// The smallest llama and qwen2 models that load: two heads of 2 on one KV head, two layers, a
// vocabulary of 5, all weights zero.

#include <string>

#include "loader/gguf_writer.h"
#include "loader/model_file.h"

namespace wl::test {

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

inline GgufWriter tiny_gguf(const std::string& arch) {
  constexpr uint64_t kHidden = 4, kFfn = 6, kVocab = 5, kLayers = 2, kKv = 2;
  GgufWriter writer;
  writer.add_text("general.architecture", arch);
  writer.add_u32(arch + ".block_count", kLayers);
  writer.add_u32(arch + ".context_length", 64);
  writer.add_u32(arch + ".embedding_length", kHidden);
  writer.add_u32(arch + ".feed_forward_length", kFfn);
  writer.add_u32(arch + ".attention.head_count", 2);
  writer.add_u32(arch + ".attention.head_count_kv", 1);
  writer.add_f32(arch + ".attention.layer_norm_rms_epsilon", 1e-5f);
  writer.add_f32(arch + ".rope.freq_base", 10000.0f);
  add_tiny_tokenizer(&writer);
  writer.add_f32_tensor("token_embd.weight", {kVocab, kHidden});
  for (uint64_t layer = 0; layer < kLayers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    writer.add_f32_tensor(block + "attn_norm.weight", {kHidden});
    writer.add_f32_tensor(block + "attn_q.weight", {kHidden, kHidden});
    writer.add_f32_tensor(block + "attn_k.weight", {kKv, kHidden});
    writer.add_f32_tensor(block + "attn_v.weight", {kKv, kHidden});
    writer.add_f32_tensor(block + "attn_output.weight", {kHidden, kHidden});
    writer.add_f32_tensor(block + "ffn_norm.weight", {kHidden});
    writer.add_f32_tensor(block + "ffn_gate.weight", {kFfn, kHidden});
    writer.add_f32_tensor(block + "ffn_up.weight", {kFfn, kHidden});
    writer.add_f32_tensor(block + "ffn_down.weight", {kHidden, kFfn});
    if (arch == "qwen2") {
      writer.add_f32_tensor(block + "attn_q.bias", {kHidden});
      writer.add_f32_tensor(block + "attn_k.bias", {kKv});
      writer.add_f32_tensor(block + "attn_v.bias", {kKv});
    }
  }
  writer.add_f32_tensor("output_norm.weight", {kHidden});
  return writer;
}

}  // namespace wl::test
