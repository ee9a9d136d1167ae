#include "models/layers/moe_block.h"

#include <algorithm>

namespace wl::models {

using backend::LinearInput;
using backend::Matrix;

void MoeBlock::route(Matrix x, const Linear& router) {
  const Matrix scores = scores_.rows(x.rows, config_.moe.num_experts);
  ops_.linear(router.product(scores, ops_.prepare_input(x, router.is_quantized())));
  const auto num_choices = static_cast<size_t>(x.rows) * config_.moe.num_used;
  experts_.resize(num_choices);
  expert_weights_.resize(num_choices);
  ops_.route_experts(scores, {config_.moe.rule, config_.moe.num_used}, experts_.data(),
                     expert_weights_.data());
}

/// Counting sort of the choices; those of one expert keep the order of their tokens.
void MoeBlock::sort_by_expert(int num_tokens) {
  const auto num_used = static_cast<size_t>(config_.moe.num_used);
  starts_.assign(static_cast<size_t>(config_.moe.num_experts) + 1, 0);
  for (const int32_t expert : experts_) ++starts_[static_cast<size_t>(expert) + 1];
  for (size_t e = 1; e < starts_.size(); ++e) starts_[e] += starts_[e - 1];
  std::vector<int32_t> next(starts_.begin(), starts_.end() - 1);
  sorted_rows_.resize(experts_.size());
  source_rows_.resize(experts_.size());
  for (size_t token = 0; token < static_cast<size_t>(num_tokens); ++token) {
    for (size_t choice = token * num_used; choice < (token + 1) * num_used; ++choice) {
      const int32_t row = next[static_cast<size_t>(experts_[choice])]++;
      sorted_rows_[choice] = row;
      source_rows_[static_cast<size_t>(row)] = static_cast<int32_t>(token);
    }
  }
}

void MoeBlock::add_products(Matrix out, const LinearInput& input,
                            const std::vector<GatedMlpWeights>& experts,
                            Linear GatedMlpWeights::* projection) {
  for (size_t e = 0; e < experts.size(); ++e) {
    const int begin = starts_[e], count = starts_[e + 1] - begin;
    if (count == 0) continue;
    products_.push_back((experts[e].*projection)
                            .product({out.row(begin), count, out.cols}, input.slice(begin, count)));
  }
}

void MoeBlock::forward(Matrix out, Matrix x, const MoeWeights& weights) {
  route(x, weights.router);
  sort_by_expert(x.rows);
  const auto num_rows = static_cast<int>(experts_.size());
  const Matrix gathered = gathered_.rows(num_rows, x.cols);
  const Matrix gate = gate_.rows(num_rows, config_.moe.ffn);
  const Matrix up = up_.rows(num_rows, config_.moe.ffn);
  const Matrix expert_out = expert_out_.rows(num_rows, out.cols);

  ops_.gather_rows(gathered, x, source_rows_.data());
  const LinearInput input = ops_.prepare_input(gathered, weights.has_quantized_inputs());
  products_.clear();
  add_products(gate, input, weights.experts, &GatedMlpWeights::gate);
  add_products(up, input, weights.experts, &GatedMlpWeights::up);
  ops_.linear(products_);
  ops_.gated_mlp(gate, up, {config_.activation, config_.swiglu_limit});
  products_.clear();
  add_products(expert_out, ops_.prepare_input(gate, weights.has_quantized_downs()), weights.experts,
               &GatedMlpWeights::down);
  ops_.linear(products_);
  std::fill_n(out.data, static_cast<size_t>(out.rows) * out.cols, 0.0f);
  ops_.add_weighted_rows(out, expert_out, config_.moe.num_used, sorted_rows_.data(),
                         expert_weights_.data());
}

}  // namespace wl::models
