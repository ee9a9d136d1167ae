#pragma once
// Reads the blocks of a model file, one function for each type, as the integers and scales that
// records of packed weights hold (backend/weight.h).

#include <cstdint>

#include "backend/weight.h"
#include "base/dtype.h"

namespace wl::cpu {

/// 32 inputs of one row, on their way from a file block to a record.
struct RowBlock {
  uint8_t scale[4] = {};  // f16 or f32, as the form wants it
  uint8_t min[4] = {};
  uint8_t sub_scale[2] = {};
  int8_t q[backend::kBlockInputs] = {};  // the integers that are stored
};

/// Reads the 32 inputs of block b of a row.
using BlockReader = RowBlock (*)(const uint8_t* row, int b);

/// Null for types without blocks and for those that are not multiplied here.
BlockReader block_reader(DType type);

}  // namespace wl::cpu
