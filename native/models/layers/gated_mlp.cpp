#include "models/layers/gated_mlp.h"

#include <array>

namespace wl::models {

using backend::LinearInput;
using backend::Matrix;

void GatedMlp::forward(Matrix out, Matrix x, const GatedMlpWeights& weights) {
  const Matrix gate = gate_.rows(x.rows, config_.ffn), up = up_.rows(x.rows, config_.ffn);
  const LinearInput input = ops_.prepare_input(x, weights.has_quantized_inputs());
  ops_.linear(std::array{weights.gate.product(gate, input), weights.up.product(up, input)});
  ops_.gated_mlp(gate, up, {config_.activation, config_.swiglu_limit});
  ops_.linear(weights.down.product(out, ops_.prepare_input(gate, weights.down.is_quantized())));
}

}  // namespace wl::models
