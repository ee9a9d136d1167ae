#pragma once
// Settings that mixtures of experts share.

#include "models/config_source.h"
#include "models/model_config.h"

namespace wl::models {

/// How many experts there are and how many a token uses: both required.
void read_experts(ConfigSource& source, Key num_experts, ModelConfig* config);

/// Mixtral's: in every layer experts as large as a dense MLP would be; softmax over all of them,
/// then the best ones, rescaled to sum to one.
void read_mixtral_experts(ConfigSource& source, ModelConfig* config);

}  // namespace wl::models
