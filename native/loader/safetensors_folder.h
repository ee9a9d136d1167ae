#pragma once
// A checkpoint folder in hub form: config.json beside model.safetensors, or beside the shards that
// model.safetensors.index.json names. Other *.safetensors files (consolidated.safetensors,
// adapters) are not part of the model and are not looked at.

#include "loader/model_file.h"

namespace wl::loader {

/// Errors: as open_model_file.
Result<ModelFile> open_safetensors_folder(const std::string& path);

}  // namespace wl::loader
