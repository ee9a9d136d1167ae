#pragma once
// Cosines and sines of a step's positions, one table for each way in which a model rotates; made
// once a step, for all layers.

#include <cstdint>
#include <string>
#include <vector>

#include "backend/ops.h"
#include "models/model_config.h"

namespace wl::models {

/// Whether an engine with room for `context` tokens uses the long factors of a longrope. A choice
/// of the whole engine: positions rotated one way never meet positions rotated the other.
bool uses_long_factors(const RopeConfig& rope, int context);

/// What cached keys depend on beside the weights: the longrope factors of each table.
std::string rope_choice(const ModelConfig& config, int context);

class RopeTables {
 public:
  /// `config` outlives the tables; `context` is what the engine is configured for, tokens.
  RopeTables(const ModelConfig& config, int context);

  /// positions [num_tokens].
  void set_positions(const int32_t* positions, int num_tokens);

  /// Rotates the heads of x [num_tokens, heads * head_dim] in place, as layers of that `rope` do.
  void rotate(backend::Ops& ops, backend::Matrix x, int rope) const;

 private:
  struct Table {
    std::vector<float> inv_freq;  // [rotary_dims / 2], all scaling applied
    std::vector<float> cos, sin;  // [num_tokens, rotary_dims / 2]
  };

  const ModelConfig& config_;
  std::vector<Table> tables_;  // as ModelConfig::ropes
};

}  // namespace wl::models
