#pragma once
// Tensor types that this build computes, and what to use instead of the others.

#include <optional>
#include <string>

#include "base/result.h"
#include "loader/model_file.h"

namespace wl::models {

/// nullopt, or ERR_MODEL_TYPE with the nearest types that work: "blk.1.attn_k.weight is IQ3_XXS,
/// not supported; use IQ4_XS or Q3_K".
std::optional<Error> type_problem(loader::Container container, const loader::TensorEntry& tensor);

}  // namespace wl::models
