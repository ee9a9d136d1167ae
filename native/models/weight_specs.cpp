#include "models/weight_specs.h"

#include <algorithm>

#include "models/arch/architecture.h"
#include "models/tensor_names.h"

namespace wl::models {

namespace {

class SpecBuilder {
 public:
  explicit SpecBuilder(const ModelConfig& config)
      : config_(config), biased_(architecture_of(config).biased) {}

  std::map<std::string, WeightSpec> build() {
    add("token_embd.weight", matrix(config_.vocab, config_.hidden));
    add("output_norm.weight", vector(config_.hidden));
    add("output.weight", matrix(config_.vocab, config_.hidden, !config_.is_tied));
    add("output.bias", vector(config_.vocab, false));
    for (layer_ = 0; layer_ < config_.num_layers; ++layer_) {
      add_norms();
      add_attention();
      if (config_.layers[static_cast<size_t>(layer_)].is_moe) {
        add_experts();
      } else {
        add_mlp("ffn_gate", "ffn_up", "ffn_down", config_.ffn, "");
      }
    }
    return std::move(specs_);
  }

 private:
  static WeightSpec vector(int cols, bool is_required = true) {
    return {1, cols, true, is_required};
  }
  static WeightSpec matrix(int rows, int cols, bool is_required = true) {
    return {rows, cols, false, is_required};
  }

  void add(const std::string& name, WeightSpec spec) { specs_.emplace(name, spec); }

  void add_norm(const char* part, int cols) {
    add(block_tensor_name(layer_, std::string(part) + ".weight"), vector(cols));
  }

  /// A matrix and its bias; `expert` is "" or ".7".
  void add_linear(const std::string& part, int rows, int cols, const std::string& expert = "") {
    const bool is_biased = std::find(biased_.begin(), biased_.end(), part) != biased_.end();
    const std::string name = block_tensor_name(layer_, part + expert);
    add(name + ".weight", matrix(rows, cols));
    add(name + ".bias", vector(rows, is_biased));
  }

  void add_norms() {
    if (config_.has_pre_norms) {
      add_norm("attn_norm", config_.hidden);
      add_norm("ffn_norm", config_.hidden);
    }
    if (config_.has_post_norms) {
      add_norm("post_attention_norm", config_.hidden);
      add_norm("post_ffw_norm", config_.hidden);
    }
  }

  void add_attention() {
    const int q = config_.num_heads * config_.head_dim;
    const int kv = config_.num_kv_heads * config_.head_dim;
    add_linear("attn_q", q, config_.hidden);
    add_linear("attn_k", kv, config_.hidden);
    add_linear("attn_v", kv, config_.hidden);
    add_linear("attn_output", config_.hidden, q);
    if (config_.qk_norm != QkNorm::kNone) {
      const bool is_whole = config_.qk_norm == QkNorm::kWholeWidth;
      add_norm("attn_q_norm", is_whole ? q : config_.head_dim);
      add_norm("attn_k_norm", is_whole ? kv : config_.head_dim);
    }
    if (config_.has_sinks) add_norm("attn_sinks", config_.num_heads);
  }

  void add_mlp(const char* gate, const char* up, const char* down, int ffn,
               const std::string& expert) {
    add_linear(gate, ffn, config_.hidden, expert);
    add_linear(up, ffn, config_.hidden, expert);
    add_linear(down, config_.hidden, ffn, expert);
  }

  void add_experts() {
    add_linear("ffn_gate_inp", config_.moe.num_experts, config_.hidden);
    for (int i = 0; i < config_.moe.num_experts; ++i) {
      std::string expert(1, '.');
      expert += std::to_string(i);
      add_mlp("ffn_gate_exps", "ffn_up_exps", "ffn_down_exps", config_.moe.ffn, expert);
    }
  }

  const ModelConfig& config_;
  std::span<const std::string_view> biased_;
  int layer_ = 0;
  std::map<std::string, WeightSpec> specs_;
};

}  // namespace

std::map<std::string, WeightSpec> weight_specs(const ModelConfig& config) {
  return SpecBuilder(config).build();
}

}  // namespace wl::models
