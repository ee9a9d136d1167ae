#include "models/tensor_rules.h"

namespace wl::models {

namespace {

constexpr TensorRule kModelRules[] = {
    {"token_embd", "model.embed_tokens", {"token_embd"}},
    {"output_norm", "model.norm", {"output_norm"}},
    {"output", "lm_head", {"output"}},
};

constexpr TensorRule kLayerRules[] = {
    {"attn_norm", "input_layernorm", {"attn_norm"}},
    {"attn_q", "self_attn.q_proj", {"attn_q"}},
    {"attn_k", "self_attn.k_proj", {"attn_k"}},
    {"attn_v", "self_attn.v_proj", {"attn_v"}},
    {"attn_qkv", "self_attn.qkv_proj", {"attn_q", "attn_k", "attn_v"}},
    {"attn_q_norm", "self_attn.q_norm", {"attn_q_norm"}},
    {"attn_k_norm", "self_attn.k_norm", {"attn_k_norm"}},
    {"attn_output", "self_attn.o_proj", {"attn_output"}},
    {"ffn_norm", "post_attention_layernorm", {"ffn_norm"}},
    {"ffn_gate", "mlp.gate_proj", {"ffn_gate"}},
    {"ffn_up", "mlp.up_proj", {"ffn_up"}},
    {"ffn_down", "mlp.down_proj", {"ffn_down"}},
    // Mixtures of experts: one tensor an expert, or all of a layer stacked.
    {"ffn_gate_inp", "mlp.gate", {"ffn_gate_inp"}},
    {"ffn_gate.#", "mlp.experts.#.gate_proj", {"ffn_gate_exps"}},
    {"ffn_up.#", "mlp.experts.#.up_proj", {"ffn_up_exps"}},
    {"ffn_down.#", "mlp.experts.#.down_proj", {"ffn_down_exps"}},
    {"", "block_sparse_moe.gate", {"ffn_gate_inp"}},  // Mixtral's names
    {"", "block_sparse_moe.experts.#.w1", {"ffn_gate_exps"}},
    {"", "block_sparse_moe.experts.#.w2", {"ffn_down_exps"}},
    {"", "block_sparse_moe.experts.#.w3", {"ffn_up_exps"}},
    {"ffn_gate_exps", "", {"ffn_gate_exps"}, true},
    {"ffn_up_exps", "", {"ffn_up_exps"}, true},
    {"ffn_down_exps", "", {"ffn_down_exps"}, true},
    {"ffn_gate_up_exps", "", {"ffn_gate_exps", "ffn_up_exps"}, true},
};

}  // namespace

std::span<const TensorRule> model_tensor_rules() { return kModelRules; }

std::span<const TensorRule> layer_tensor_rules() { return kLayerRules; }

}  // namespace wl::models
