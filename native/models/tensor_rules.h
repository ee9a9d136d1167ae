#pragma once
// How the tensors of a checkpoint become the matrices and vectors of the decoder: names in both
// containers, and for fused, stacked or transposed ones how they are cut up.

#include <array>
#include <span>
#include <string_view>

namespace wl::models {

/// One tensor of a layer, or of the model. Names are those below "blk.N." and "model.layers.N.",
/// with
/// '#' for an expert's number; ".weight" and ".bias" are left out where the file has either, and
/// written out where it has only one of them.
struct TensorRule {
  enum class Storage {
    kRows,         // [rows, cols], or [experts, rows, cols]
    kTransposed,   // [experts, cols, rows]
    kMxfp4Blocks,  // [experts, rows, cols / 32, 16] nibbles; its scales are a tensor beside it
    kMxfp4Scales,  // [experts, rows, cols / 32]
  };

  std::string_view gguf = {};  // empty: not in that container
  std::string_view hf = {};
  /// What it holds, by the decoder's own names: rows of the first, then of the second, ...
  std::array<std::string_view, 3> targets = {};
  bool is_expert_stack = false;  // a leading axis over the experts, each with all targets
  bool is_interleaved = false;   // rows of the targets take turns
  Storage storage = Storage::kRows;
};

/// Tensors outside the layers: whole names.
std::span<const TensorRule> model_tensor_rules();

/// Tensors of a layer that any architecture may have.
std::span<const TensorRule> layer_tensor_rules();

}  // namespace wl::models
