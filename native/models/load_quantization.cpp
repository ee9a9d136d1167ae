#include "models/load_quantization.h"

namespace wl::models {

namespace {

bool is_router(const std::string& name) { return name.ends_with(".ffn_gate_inp.weight"); }

bool fits(DType type, int cols) { return cols % dtype_traits(type).block_elems == 0; }

}  // namespace

Result<DType> quantized_type(const std::string& name, const WeightEntry& matrix, DType wanted) {
  if (dtype_traits(matrix.type).block_elems > 1) {
    return Error{ErrorCode::kModelType, name + " is " + dtype_traits(matrix.type).name +
                                            ": the file is already quantized; open it without "
                                            "quantizing"};
  }
  if (is_router(name)) return matrix.type;
  const bool is_of_layer = name.starts_with("blk.");
  DType type = is_of_layer ? wanted : DType::kQ8_0;
  if (type == DType::kQ4_K && !fits(type, matrix.cols)) type = DType::kQ5_0;
  if (fits(type, matrix.cols)) return type;
  return Error{ErrorCode::kModelType, name + " has rows of " + std::to_string(matrix.cols) +
                                          ", not a multiple of 32: it cannot be " +
                                          dtype_traits(type).name};
}

}  // namespace wl::models
