#pragma once
// Hyperparameters from an HF config.json, classic form (rope_theta, rope_scaling) or the newer one
// (rope_parameters, text_config).

#include "models/model_config.h"

namespace wl::models {

/// Errors: as read_model_config.
Result<ModelConfig> read_hf_config(const loader::ModelFile& file);

}  // namespace wl::models
