#include "sampling/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/philox.h"
#include "sampling/finite.h"
#include "sampling/top_tokens.h"

namespace wl::sampling {
namespace {

// Long enough that the compiler's vector loop pays, short enough to rescan from L1.
constexpr size_t kArgmaxBlock = 256;

/// Calls visit(token) for each token that may be drawn, ascending.
template <class Visit>
void for_each_token(size_t num_tokens, const TokenMask* allowed, Visit visit) {
  if (allowed != nullptr) return allowed->for_each(visit);
  for (int32_t token = 0; token < static_cast<int32_t>(num_tokens); ++token) visit(token);
}

int32_t argmax(std::span<const double> logits, const TokenMask* allowed) {
  int32_t best = 0;
  double max = -std::numeric_limits<double>::infinity();
  for_each_token(logits.size(), allowed, [&](int32_t token) {
    const double logit = logits[static_cast<size_t>(token)];
    if (logit > max) max = logit, best = token;
  });
  return best;
}

}  // namespace

double uniform(uint64_t seed, uint32_t position, DrawPurpose purpose) {
  const auto words =
      philox4x32_10({position, static_cast<uint32_t>(purpose), 0, 0},
                    {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return words[0] / 4294967296.0;
}

std::optional<int32_t> argmax(std::span<const float> logits) {
  size_t best_idx = 0;
  float best = logits[0];
  bool all_finite = true;
  for (size_t start = 0; start < logits.size(); start += kArgmaxBlock) {
    const auto block = logits.subspan(start, std::min(kArgmaxBlock, logits.size() - start));
    float block_max = block[0];
    for (const float logit : block) {
      all_finite &= is_finite(logit);
      block_max = logit > block_max ? logit : block_max;
    }
    if (block_max > best) {
      best = block_max;
      best_idx =
          start + static_cast<size_t>(std::find(block.begin(), block.end(), best) - block.begin());
    }
  }
  if (!all_finite) return std::nullopt;
  return static_cast<int32_t>(best_idx);
}

std::optional<int32_t> argmax(std::span<const float> logits, const TokenMask& allowed) {
  int32_t best_token = 0;
  float best = -std::numeric_limits<float>::infinity();
  bool all_finite = true;
  for (size_t i = 0; i < allowed.words().size(); ++i) {
    const size_t start = i * TokenMask::kWordBits;
    const auto block = logits.subspan(start, std::min(TokenMask::kWordBits, logits.size() - start));
    float block_max = block[0];
    for (const float logit : block) {
      all_finite &= is_finite(logit);
      block_max = logit > block_max ? logit : block_max;
    }
    if (block_max <= best) continue;  // most words: their bits need no look
    for (uint32_t rest = allowed.words()[i]; rest != 0; rest &= rest - 1) {
      const size_t token = start + static_cast<size_t>(std::countr_zero(rest));
      if (logits[token] > best) best = logits[token], best_token = static_cast<int32_t>(token);
    }
  }
  if (!all_finite) return std::nullopt;
  return best_token;
}

int32_t draw(const Candidates& candidates, double u) {
  double total = 0;
  for (const double weight : candidates.weights) total += weight;
  const double target = u * total;
  double cumulative = 0;
  for (size_t i = 0; i < candidates.tokens.size(); ++i) {
    cumulative += candidates.weights[i];
    if (cumulative > target) return candidates.tokens[i];
  }
  throw InternalError("sampler: no candidate has weight");  // u < 1 and the largest weight is 1
}

std::optional<int32_t> Sampler::sample(std::span<const float> logits, const SamplingParams& params,
                                       const TokenHistory& history, uint32_t position,
                                       const TokenMask* allowed) {
  if (params.is_greedy() && !params.has_penalties() && params.logit_bias.empty()) {
    return allowed == nullptr ? sampling::argmax(logits) : sampling::argmax(logits, *allowed);
  }
  if (!all_finite(logits)) return std::nullopt;

  logits_.assign(logits.begin(), logits.end());
  for (const TokenBias& bias : params.logit_bias) {
    logits_[static_cast<size_t>(bias.token)] += bias.value;
  }
  if (params.has_penalties()) history.apply_penalties(params, logits_);
  if (params.is_greedy()) return argmax(std::span<const double>(logits_), allowed);
  return draw(filter(logits_, params, allowed),
              uniform(params.seed, position, DrawPurpose::kTarget));
}

const Candidates& Sampler::filter(std::span<double> logits, const SamplingParams& params,
                                  const TokenMask* allowed) {
  if (params.temperature != 1) {
    for (double& logit : logits) logit /= params.temperature;
  }
  const size_t k = static_cast<size_t>(params.top_k);
  if (k > 0 && k < logits.size()) {
    keep_top_k(logits, k, allowed);
  } else {
    keep_all(logits.size(), allowed);
  }
  weigh(logits);
  if (params.top_p < 1) keep_top_p(logits, params.top_p);
  if (params.min_p > 0) keep_min_p(params.min_p);
  return candidates_;
}

void Sampler::keep_top_k(std::span<const double> logits, size_t k, const TokenMask* allowed) {
  const auto ranks_before = [&](int32_t a, int32_t b) {
    const double left = logits[static_cast<size_t>(a)], right = logits[static_cast<size_t>(b)];
    return left != right ? left > right : a < b;
  };
  std::vector<int32_t>& best = candidates_.tokens;
  best.clear();
  for_each_token(logits.size(), allowed,
                 [&](int32_t token) { offer_token(best, k, token, ranks_before); });
  std::sort(best.begin(), best.end());
}

void Sampler::keep_all(size_t num_tokens, const TokenMask* allowed) {
  candidates_.tokens.clear();
  if (allowed != nullptr) {
    allowed->for_each([this](int32_t token) { candidates_.tokens.push_back(token); });
    return;
  }
  candidates_.tokens.resize(num_tokens);
  std::iota(candidates_.tokens.begin(), candidates_.tokens.end(), 0);
}

void Sampler::weigh(std::span<const double> logits) {
  double max = logits[static_cast<size_t>(candidates_.tokens[0])];
  for (const int32_t token : candidates_.tokens) {
    max = std::max(max, logits[static_cast<size_t>(token)]);
  }
  candidates_.weights.clear();
  for (const int32_t token : candidates_.tokens) {
    candidates_.weights.push_back(std::exp(logits[static_cast<size_t>(token)] - max));
  }
}

/// A token stays while the mass ranked before it is < p; the first one always does.
void Sampler::keep_top_p(std::span<const double> logits, double p) {
  double total = 0;
  for (const double weight : candidates_.weights) total += weight;

  // Weights below this floor sum to less than the mass that is cut, so none of them can stay and
  // most of the vocabulary need not be ranked. The half absorbs rounding.
  const double floor = 0.5 * (1 - p) * total / static_cast<double>(candidates_.weights.size());
  ranked_.clear();
  for (size_t i = 0; i < candidates_.tokens.size(); ++i) {
    if (candidates_.weights[i] < floor) continue;
    const int32_t token = candidates_.tokens[i];
    ranked_.push_back({logits[static_cast<size_t>(token)], candidates_.weights[i], token});
  }

  size_t num_sorted = 0, num_kept = 0;
  double mass_before = 0;
  while (num_kept < ranked_.size() && (num_kept == 0 || mass_before < p * total)) {
    if (num_kept == num_sorted) num_sorted = sort_more(num_sorted);
    mass_before += ranked_[num_kept++].weight;
  }
  ranked_.resize(num_kept);
  std::ranges::sort(ranked_, {}, &Ranked::token);
  candidates_.tokens.clear();
  candidates_.weights.clear();
  for (const Ranked& kept : ranked_) {
    candidates_.tokens.push_back(kept.token);
    candidates_.weights.push_back(kept.weight);
  }
}

/// Extends the sorted head of ranked_ from num_sorted entries to several times that: a peaked
/// distribution sorts a few hundred entries, a flat one a few times, never one by one.
size_t Sampler::sort_more(size_t num_sorted) {
  const auto ranks_before = [](const Ranked& a, const Ranked& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  const size_t num_wanted = std::min(ranked_.size(), std::max(size_t{256}, num_sorted * 8));
  const auto begin = ranked_.begin() + static_cast<std::ptrdiff_t>(num_sorted);
  const auto end = ranked_.begin() + static_cast<std::ptrdiff_t>(num_wanted);
  std::nth_element(begin, end, ranked_.end(), ranks_before);
  std::sort(begin, end, ranks_before);
  return num_wanted;
}

void Sampler::keep_min_p(double p) {
  size_t num_kept = 0;
  for (size_t i = 0; i < candidates_.tokens.size(); ++i) {
    if (candidates_.weights[i] < p) continue;  // the largest weight is 1
    candidates_.tokens[num_kept] = candidates_.tokens[i];
    candidates_.weights[num_kept] = candidates_.weights[i];
    ++num_kept;
  }
  candidates_.tokens.resize(num_kept);
  candidates_.weights.resize(num_kept);
}

}  // namespace wl::sampling
