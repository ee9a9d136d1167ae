#pragma once
// The safetensors container: one file's tensor table over bytes in memory.
// Source: the safetensors format description (header length, JSON header, data buffer). All its
// rules are enforced: no holes, no overlaps, no bytes behind the last tensor, no duplicate names.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loader/model_file.h"

namespace wl::loader {

/// Tensors in the order of their data. `name` is how messages call the file.
/// Errors: ERR_MODEL_FILE (not safetensors), ERR_MODEL_FORMAT (damaged), ERR_MODEL_TYPE (a dtype
/// that no table of ours knows).
Result<std::vector<TensorEntry>> parse_safetensors(std::span<const uint8_t> bytes,
                                                   const std::string& name);

}  // namespace wl::loader
