// Qwen 3 with mixtures of experts: softmax over all experts, then the best ones, rescaled to sum to
// one where the config says so (GGUF: always). Some layers may be dense.

#include <algorithm>

#include "models/arch/architectures.h"
#include "models/config_keys.h"
#include "models/config_limits.h"
#include "models/experts.h"
#include "models/layer_windows.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

constexpr Key kNumExperts{"expert_count", "num_experts"};
constexpr Key kIsNormalized{"expert_weights_norm", "norm_topk_prob"};
constexpr Key kSparseStep{nullptr, "decoder_sparse_step"};
constexpr Key kDenseLayers{nullptr, "mlp_only_layers"};

void choose_layers(ConfigSource& source, ModelConfig* config) {
  const int step = source.fields.int_or(kSparseStep, 1, kLayersRange);
  const auto dense = source.fields.numbers(kDenseLayers).value_or(std::vector<double>());
  for (int i = 0; i < config->num_layers; ++i) {
    const bool is_dense = std::find(dense.begin(), dense.end(), i) != dense.end();
    config->layers[static_cast<size_t>(i)].is_moe = !is_dense && (i + 1) % step == 0;
  }
}

void read(ConfigSource& source, ModelConfig* config) {
  config->qk_norm = QkNorm::kPerHead;
  config->ropes = {read_rope(source, *config, {})};
  read_upper_windows(source, config);

  read_experts(source, kNumExperts, config);
  const bool is_normalized = source.is_gguf() ? source.fields.bool_or(kIsNormalized, true)
                                              : source.fields.required_bool(kIsNormalized);
  config->moe.rule =
      is_normalized ? ExpertRule::kSoftmaxThenTopNormalized : ExpertRule::kSoftmaxThenTop;
  if (source.is_gguf()) {
    const int usual = std::max(1, config->ffn / config->moe.num_used);
    config->moe.ffn = source.fields.int_or(keys::kExpertFfn, usual, kFfnRange);
  } else {
    config->moe.ffn = source.fields.required_int(keys::kExpertFfn, kFfnRange);
  }
  choose_layers(source, config);
}

constexpr std::string_view kHfTypes[] = {"qwen3_moe"};

constexpr TensorRule kTensors[] = {
    {"", "mlp.experts.gate_up_proj", {"ffn_gate_exps.weight", "ffn_up_exps.weight"}, true},
    {"", "mlp.experts.down_proj", {"ffn_down_exps.weight"}, true},
};

}  // namespace

const Architecture kQwen3Moe = {
    .name = "qwen3moe", .hf_types = kHfTypes, .read = read, .tensors = kTensors};

}  // namespace wl::models
