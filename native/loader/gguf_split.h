#pragma once
// A GGUF model of one file, or of several: PREFIX-00001-of-0000N.gguf and so on. The first file has
// the metadata; each has its own tensor table and data.

#include "loader/model_file.h"

namespace wl::loader {

/// Opens the model whose first (or only) file is `path` and checks that all its files belong
/// together. Errors: as open_model_file.
Result<ModelFile> open_gguf(const std::string& path);

}  // namespace wl::loader
