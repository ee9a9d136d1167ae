// gpt-oss: experts in MXFP4 with a clamped SwiGLU, biases everywhere, an attention sink a head, and
// a sliding window in every second layer. Its yarn range is never rounded: HF configs say so, and
// GGUF has no key for it.

#include "models/arch/architectures.h"
#include "models/config_keys.h"
#include "models/config_limits.h"
#include "models/experts.h"
#include "models/layer_windows.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

constexpr Key kSwigluLimit{nullptr, "swiglu_limit"};
constexpr int kPeriod = 2;

void read(ConfigSource& source, ModelConfig* config) {
  config->has_sinks = true;
  config->activation = MlpActivation::kClampedSwiglu;
  config->swiglu_limit =
      static_cast<float>(source.fields.number_or(kSwigluLimit, config->swiglu_limit, kScaleRange));

  read_experts(source, keys::kNumExperts, config);
  config->moe.rule = ExpertRule::kTopThenSoftmax;
  config->moe.ffn = source.fields.int_or(keys::kExpertFfn, config->ffn, kFfnRange);
  for (LayerConfig& layer : config->layers) layer.is_moe = true;

  const int period = read_window_period(source, kPeriod);
  read_windows(source, config, [=](int layer) { return layer % period != period - 1; });
  config->ropes = {read_rope(source, *config, {.is_yarn_truncated = false})};
}

constexpr std::string_view kHfTypes[] = {"gpt_oss"};
constexpr std::string_view kBiased[] = {"attn_q",      "attn_k",       "attn_v",
                                        "attn_output", "ffn_gate_inp", "ffn_gate_exps",
                                        "ffn_up_exps", "ffn_down_exps"};

using Storage = TensorRule::Storage;

// HF keeps gate and up in one tensor, row by row in turn: even rows gate, odd rows up. Unquantised
// experts are stored input dimension first.
constexpr TensorRule kTensors[] = {
    {"attn_sinks.weight", "self_attn.sinks", {"attn_sinks.weight"}},
    {"post_attention_norm", "post_attention_layernorm", {"ffn_norm"}},
    {"", "mlp.router", {"ffn_gate_inp"}},
    {.hf = "mlp.experts.gate_up_proj_blocks",
     .targets = {"ffn_gate_exps.weight", "ffn_up_exps.weight"},
     .is_expert_stack = true,
     .is_interleaved = true,
     .storage = Storage::kMxfp4Blocks},
    {.hf = "mlp.experts.gate_up_proj_scales",
     .targets = {"ffn_gate_exps.weight", "ffn_up_exps.weight"},
     .is_expert_stack = true,
     .is_interleaved = true,
     .storage = Storage::kMxfp4Scales},
    {.hf = "mlp.experts.gate_up_proj",
     .targets = {"ffn_gate_exps.weight", "ffn_up_exps.weight"},
     .is_expert_stack = true,
     .is_interleaved = true,
     .storage = Storage::kTransposed},
    {.hf = "mlp.experts.gate_up_proj_bias",
     .targets = {"ffn_gate_exps.bias", "ffn_up_exps.bias"},
     .is_expert_stack = true,
     .is_interleaved = true},
    {.hf = "mlp.experts.down_proj_blocks",
     .targets = {"ffn_down_exps.weight"},
     .is_expert_stack = true,
     .storage = Storage::kMxfp4Blocks},
    {.hf = "mlp.experts.down_proj_scales",
     .targets = {"ffn_down_exps.weight"},
     .is_expert_stack = true,
     .storage = Storage::kMxfp4Scales},
    {.hf = "mlp.experts.down_proj",
     .targets = {"ffn_down_exps.weight"},
     .is_expert_stack = true,
     .storage = Storage::kTransposed},
    {.hf = "mlp.experts.down_proj_bias",
     .targets = {"ffn_down_exps.bias"},
     .is_expert_stack = true},
};

}  // namespace

const Architecture kGptOss = {.name = "gpt-oss",
                              .hf_types = kHfTypes,
                              .read = read,
                              .tensors = kTensors,
                              .biased = kBiased,
                              .hf_quantization = "mxfp4"};

}  // namespace wl::models
