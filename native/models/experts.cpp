#include "models/experts.h"

#include "models/config_keys.h"
#include "models/config_limits.h"

namespace wl::models {

namespace {

constexpr int kMaxExpertsOfAllLayers = 1 << 16;  // bounds what a small hostile file can ask for

}  // namespace

void read_experts(ConfigSource& source, Key num_experts, ModelConfig* config) {
  MoeConfig& moe = config->moe;
  moe.num_experts = source.fields.required_int(num_experts, kExpertsRange);
  if (moe.num_experts > kMaxExpertsOfAllLayers / config->num_layers) {
    source.fields.refuse(num_experts,
                         "too many for " + std::to_string(config->num_layers) + " layers");
  }
  moe.num_used = source.fields.required_int(keys::kNumExpertsUsed, {1, moe.num_experts});
}

void read_mixtral_experts(ConfigSource& source, ModelConfig* config) {
  read_experts(source, keys::kNumExperts, config);
  config->moe.rule = ExpertRule::kSoftmaxThenTopNormalized;
  config->moe.ffn = config->ffn;
  for (LayerConfig& layer : config->layers) layer.is_moe = true;
}

}  // namespace wl::models
