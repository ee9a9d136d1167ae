#pragma once
// From the tensors of a checkpoint to the matrices and vectors of the decoder.

#include <map>
#include <string>

#include "base/result.h"
#include "loader/model_file.h"
#include "models/model_config.h"
#include "models/weight_entry.h"

namespace wl::models {

/// One entry for each matrix or vector that the decoder uses, by its name inside, which is GGUF's
/// ("blk.0.attn_q.weight", ...), whatever the container and however the file fuses them.
/// Q and K rows keep the file's order; RopeConfig::pairing says how they rotate.
/// Errors: ERR_MODEL_TENSOR (missing, unknown, duplicate, wrong shape), ERR_MODEL_TYPE (type out of
/// scope, with the nearest that works).
Result<std::map<std::string, WeightEntry>> map_weights(const loader::ModelFile& file,
                                                       const ModelConfig& config);

}  // namespace wl::models
