#include "cpu/expert_routing.h"

#include <algorithm>

namespace wl::cpu {

namespace {

// The smallest normal binary16: what divides the weights of a token whose best probabilities all
// but vanish.
constexpr float kMinWeightSum = 0x1p-14f;

/// Indices of the num_best largest scores, the largest first, ties to the lower index.
void choose_best(const float* scores, int num_experts, int num_best, int32_t* best) {
  int size = 0;
  for (int e = 0; e < num_experts; ++e) {
    if (size == num_best && !(scores[e] > scores[best[size - 1]])) continue;
    int place = size == num_best ? size - 1 : size++;
    for (; place > 0 && scores[e] > scores[best[place - 1]]; --place) best[place] = best[place - 1];
    best[place] = e;
  }
}

void divide(float* values, int count, float divisor) {
  for (int i = 0; i < count; ++i) values[i] /= divisor;
}

}  // namespace

void route_row(const KernelTable& kernels, float* scores, int num_experts,
               const backend::ExpertRouting& routing, int32_t* experts, float* weights) {
  using backend::ExpertRule;
  const int num_used = routing.num_used;
  choose_best(scores, num_experts, num_used, experts);
  const float largest = scores[experts[0]];
  const auto take_chosen = [&] {
    for (int j = 0; j < num_used; ++j) weights[j] = scores[experts[j]];
  };
  if (routing.rule == ExpertRule::kTopThenSoftmax) {
    take_chosen();
    divide(weights, num_used, kernels.exp_row(weights, num_used, largest));
    return;
  }
  const float total = kernels.exp_row(scores, num_experts, largest);
  take_chosen();
  divide(weights, num_used, total);
  if (routing.rule == ExpertRule::kSoftmaxThenTopNormalized) {
    float sum = 0;
    for (int j = 0; j < num_used; ++j) sum += weights[j];
    divide(weights, num_used, std::max(sum, kMinWeightSum));
  }
}

}  // namespace wl::cpu
