#pragma once
// The mixture-of-experts MLP of a layer: a router chooses a few experts for each token, and their
// outputs are added with the router's weights. Tokens are laid out expert by expert, so that each
// expert's matrices are read once a step; products of rows are independent, so a token's result
// does not depend on its neighbours.

#include "models/decoder_weights.h"
#include "models/layers/buffer.h"

namespace wl::models {

class MoeBlock {
 public:
  /// Both outlive the block.
  MoeBlock(const ModelConfig& config, backend::Ops& ops) : config_(config), ops_(ops) {}

  /// x, out [tokens, hidden].
  void forward(backend::Matrix out, backend::Matrix x, const MoeWeights& weights);

 private:
  void route(backend::Matrix x, const Linear& router);
  void sort_by_expert(int num_tokens);
  /// One product for each expert, over its own rows of `input` and `out`.
  void add_products(backend::Matrix out, const backend::LinearInput& input,
                    const std::vector<GatedMlpWeights>& experts,
                    Linear GatedMlpWeights::* projection);

  const ModelConfig& config_;
  backend::Ops& ops_;
  Buffer scores_, gathered_, gate_, up_, expert_out_;
  std::vector<int32_t> experts_;       // [tokens, num_used] the chosen ones, best first
  std::vector<float> expert_weights_;  // [tokens, num_used]
  std::vector<int32_t> starts_;       // [num_experts + 1] expert e has the sorted rows from here on
  std::vector<int32_t> sorted_rows_;  // [tokens, num_used] where a choice lies, sorted by expert
  std::vector<backend::Product> products_;
  std::vector<int32_t> source_rows_;  // [tokens * num_used] the token of a sorted row
};

}  // namespace wl::models
