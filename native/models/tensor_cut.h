#pragma once
// Where the matrices and vectors inside one tensor of a file lie: fused projections, stacks of
// experts, interleaved rows, transposed matrices, MXFP4 blocks. Bytes only; weight_map.h decides
// what a tensor holds and whether it fits.

#include <cstdint>
#include <string>
#include <vector>

#include "loader/model_file.h"
#include "models/tensor_rules.h"
#include "models/weight_entry.h"
#include "models/weight_specs.h"

namespace wl::models {

constexpr int kMxfp4Elems = 32;
constexpr int kMxfp4NibbleBytes = 16;

/// One matrix or vector inside a tensor.
struct TensorPart {
  std::string name;
  WeightSpec spec;
  int64_t expert = 0;  // of a stack
  int64_t before = 0;  // rows (elements of a vector) of the same expert in front of it
  int64_t turn = 0;    // of interleaved ones
};

/// All parts of one tensor, which have the same cols, or are vectors.
struct TensorCut {
  std::vector<TensorPart> parts;
  int64_t num_experts = 1;
  int64_t num_targets = 0;  // of each expert
  int64_t total = 0;        // rows, or elements, of each expert
  int64_t cols = 0;
  bool are_vectors = false;
};

/// The bytes of one part. The tensor has the shape and type that its rule and cut ask for.
/// @param scales of MXFP4 blocks, null for other tensors
WeightEntry place_part(const loader::TensorEntry& tensor, const loader::TensorEntry* scales,
                       const TensorRule& rule, const TensorCut& cut, const TensorPart& part);

}  // namespace wl::models
