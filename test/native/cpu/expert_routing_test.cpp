// Expert routing: the three rules against their formulas, ties, and rows that do not see their
// batch.

#include "cpu/expert_routing.h"

#include <algorithm>
#include <cmath>

#include "check.h"
#include "levels.h"

namespace wl::cpu {
namespace {

using backend::ExpertRouting;
using backend::ExpertRule;

struct Choice {
  std::vector<int32_t> experts;
  Floats weights;
};

Choice route(const KernelTable& kernels, Floats scores, const ExpertRouting& routing) {
  Choice choice;
  choice.experts.resize(static_cast<size_t>(routing.num_used), -1);
  choice.weights.resize(static_cast<size_t>(routing.num_used));
  route_row(kernels, scores.data(), static_cast<int>(scores.size()), routing, choice.experts.data(),
            choice.weights.data());
  return choice;
}

}  // namespace

WL_TEST("routing: each rule weighs the best experts by its formula, on every level alike") {
  std::mt19937 rng(1);
  for (const int num_experts : {1, 4, 8, 33, 128}) {
    const int num_used = std::min(num_experts, 4);
    const Floats scores = random_floats(rng, static_cast<size_t>(num_experts), 2.0f);
    std::vector<int32_t> order(scores.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
    });
    order.resize(static_cast<size_t>(num_used));
    double all = 0, chosen = 0;
    for (const float s : scores) all += std::exp(static_cast<double>(s));
    for (const int32_t e : order) chosen += std::exp(static_cast<double>(scores[e]));
    for (const auto rule : {ExpertRule::kSoftmaxThenTop, ExpertRule::kSoftmaxThenTopNormalized,
                            ExpertRule::kTopThenSoftmax}) {
      const Choice expected = route(*ref_kernels(), scores, {rule, num_used});
      WL_CHECK(expected.experts == order);
      for (size_t j = 0; j < order.size(); ++j) {
        const double e = std::exp(static_cast<double>(scores[static_cast<size_t>(order[j])]));
        const double exact = e / (rule == ExpertRule::kSoftmaxThenTop ? all : chosen);
        WL_CHECK(std::fabs(expected.weights[j] - exact) < 1e-6 * exact);
      }
      for (const KernelTable* kernels : simd_levels()) {
        const Choice got = route(*kernels, scores, {rule, num_used});
        WL_CHECK(got.experts == order && same_bits(got.weights, expected.weights));
      }
    }
  }
}

WL_TEST("routing: equal scores go to the lower index") {
  const Choice choice = route(*ref_kernels(), {1, 3, 2, 3, 2, 3}, {ExpertRule::kTopThenSoftmax, 4});
  WL_CHECK((choice.experts == std::vector<int32_t>{1, 3, 5, 2}));
  WL_CHECK_EQ(choice.weights[0], choice.weights[2]);
}

WL_TEST("routing: scores that are not numbers still name each expert at most once") {
  const float nan = std::nanf("");
  for (const Floats& scores : {Floats{nan, nan, nan, nan}, Floats{nan, 1, nan, 2}}) {
    Choice choice = route(*ref_kernels(), scores, {ExpertRule::kSoftmaxThenTop, 3});
    std::sort(choice.experts.begin(), choice.experts.end());
    WL_CHECK(std::adjacent_find(choice.experts.begin(), choice.experts.end()) ==
             choice.experts.end());
    WL_CHECK(choice.experts.front() >= 0 && choice.experts.back() < 4);
  }
}

}  // namespace wl::cpu
