#include "sampling/logprobs.h"

#include <algorithm>
#include <cmath>

#include "sampling/finite.h"
#include "sampling/top_tokens.h"

namespace wl::sampling {
namespace {

/// log(sum(exp(logits)))
double log_sum_exp(std::span<const float> logits) {
  const float max = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit} - double{max});
  return double{max} + std::log(sum);
}

std::vector<int32_t> top_tokens(std::span<const float> logits, size_t k) {
  const auto ranks_before = [&](int32_t a, int32_t b) {
    const float left = logits[static_cast<size_t>(a)], right = logits[static_cast<size_t>(b)];
    return left != right ? left > right : a < b;
  };
  std::vector<int32_t> best;
  for (int32_t token = 0; token < static_cast<int32_t>(logits.size()); ++token) {
    offer_token(best, k, token, ranks_before);
  }
  std::ranges::sort(best, ranks_before);
  return best;
}

}  // namespace

bool append_logprobs(std::span<const float> logits, int32_t token, int num_top, LogprobRows& out) {
  if (!all_finite(logits)) return false;
  const double log_total = log_sum_exp(logits);
  const auto append = [&](int32_t id) {
    out.tokens.push_back(id);
    out.logprobs.push_back(double{logits[static_cast<size_t>(id)]} - log_total);
  };
  append(token);
  for (const int32_t id : top_tokens(logits, static_cast<size_t>(num_top))) append(id);
  return true;
}

}  // namespace wl::sampling
