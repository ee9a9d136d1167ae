#pragma once
// The dense MLP of a layer: down(activation(gate(x)) * up(x)).

#include "models/decoder_weights.h"
#include "models/layers/buffer.h"

namespace wl::models {

class GatedMlp {
 public:
  /// Both outlive the block.
  GatedMlp(const ModelConfig& config, backend::Ops& ops) : config_(config), ops_(ops) {}

  /// x, out [tokens, hidden].
  void forward(backend::Matrix out, backend::Matrix x, const GatedMlpWeights& weights);

 private:
  const ModelConfig& config_;
  backend::Ops& ops_;
  Buffer gate_, up_;
};

}  // namespace wl::models
