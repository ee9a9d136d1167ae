#pragma once
// Settings that mixtures of experts share.

#include "models/config_source.h"
#include "models/model_config.h"

namespace wl::models {

/// How many experts there are and how many a token uses: both required.
void read_experts(ConfigSource& source, Key num_experts, ModelConfig* config);

}  // namespace wl::models
