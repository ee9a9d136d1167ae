#pragma once
// Which matrix takes which type when a float model is quantised at load. Layers get the type asked
// for; the embedding and the head always get Q8_0, because their errors reach every token directly
// and files of mixed types keep them finer too. Rows that Q4_K's blocks of 256 do not divide get
// Q5_0. Norms, biases, sinks and routers stay float: they are small, and a router's rounding
// changes which experts run.

#include <string>

#include "base/dtype.h"
#include "base/result.h"
#include "models/weight_map.h"

namespace wl::models {

/// The type that matrix `name` ("blk.3.ffn_up.weight") takes when `wanted` (Q8_0, Q4_0 or Q4_K) is
/// asked for.
/// Errors: ERR_MODEL_TYPE (the matrix is already quantised, or no type here can take its rows).
Result<DType> quantized_type(const std::string& name, const WeightEntry& matrix, DType wanted);

}  // namespace wl::models
