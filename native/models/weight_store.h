#pragma once
// Packed weights of the process, one copy a file: the first engine packs, engines that open the
// same file meanwhile wait for it, later ones share, and the last one to close frees. Thread-safe.

#include <memory>
#include <optional>
#include <string>

#include "models/decoder_weights.h"

namespace wl::models {

/// What tells packings of one file apart.
struct PackingOptions {
  std::string form;  // "packed" or "float32"
  std::optional<DType> quantization;
  std::string key() const;
};

/// The file's identity is its path, size and modification time.
Result<std::shared_ptr<const DecoderWeights>> shared_decoder_weights(const std::string& path,
                                                                     const PackingOptions& options,
                                                                     backend::Backend& backend);

}  // namespace wl::models
