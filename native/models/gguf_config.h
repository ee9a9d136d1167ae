#pragma once
// Hyperparameters from GGUF keys.

#include "models/model_config.h"

namespace wl::models {

/// Errors: as read_model_config.
Result<ModelConfig> read_gguf_config(const loader::ModelFile& file);

}  // namespace wl::models
