#pragma once
// The matrices and vectors that a decoder of some configuration has.

#include <map>
#include <string>

#include "models/model_config.h"

namespace wl::models {

struct WeightSpec {
  int rows = 1;
  int cols = 0;
  bool is_vector = false;  // [cols]; rows is 1
  bool is_required = true;
};

/// By the decoder's own names: "blk.0.attn_q.weight", "blk.0.ffn_up_exps.7.bias".
std::map<std::string, WeightSpec> weight_specs(const ModelConfig& config);

}  // namespace wl::models
