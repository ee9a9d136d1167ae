#pragma once
// Logits -> token. One sampler for plain decoding and for verification of drafts.
// Input is float32; float64 from there on, sums in index order, so a draw is the same whatever was
// batched beside it. Uniforms come from a counter-based generator keyed by (seed, position).
// Order: mask, bias, penalties, temperature, top-k, top-p, min-p, draw. Source of the steps: engine
// specification, section 3; a bias is added to the logit as the model gave it. Tests:
// test/golden/sampling/filters.json.
// Not thread-safe (scratch buffers); one per engine thread.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sampling/sampling_params.h"
#include "sampling/token_history.h"
#include "sampling/token_mask.h"

namespace wl::sampling {

/// What a uniform is for: the second word of the generator's counter.
enum class DrawPurpose : uint32_t { kTarget = 0, kDraft = 1, kAcceptance = 2, kResidual = 3 };

/// u in [0, 1) for the token at `position` of a sequence.
double uniform(uint64_t seed, uint32_t position, DrawPurpose purpose);

/// Tokens that survived the filters, ascending, with unnormalized weights; the largest weight is 1.
struct Candidates {
  std::vector<int32_t> tokens;
  std::vector<double> weights;
};

/// Lowest index of the largest logit; nullopt when any logit is not finite.
std::optional<int32_t> argmax(std::span<const float> logits);
/// As above, among the allowed tokens. A logit that is not finite counts wherever it is.
std::optional<int32_t> argmax(std::span<const float> logits, const TokenMask& allowed);

/// The smallest token whose cumulative weight in index order is > u * total.
int32_t draw(const Candidates& candidates, double u);

class Sampler {
 public:
  /// The token at `position` (index of the drawn token in its sequence). `history` is read only
  /// when params.has_penalties(). nullopt: a logit is not finite. `allowed`: of logits.size()
  /// tokens, the only ones that may be drawn, at least one; null: all of them. The tokens of
  /// params.logit_bias are below logits.size().
  std::optional<int32_t> sample(std::span<const float> logits, const SamplingParams& params,
                                const TokenHistory& history, uint32_t position,
                                const TokenMask* allowed = nullptr);

  /// Temperature, top-k, top-p and min-p of logits that already carry their penalties. `logits` is
  /// scaled in place. Precondition: params is not greedy.
  const Candidates& filter(std::span<double> logits, const SamplingParams& params,
                           const TokenMask* allowed = nullptr);

 private:
  struct Ranked {
    double logit, weight;
    int32_t token;
  };

  void keep_top_k(std::span<const double> logits, size_t k, const TokenMask* allowed);
  void keep_all(size_t num_tokens, const TokenMask* allowed);
  void weigh(std::span<const double> logits);
  void keep_top_p(std::span<const double> logits, double p);
  size_t sort_more(size_t num_sorted);
  void keep_min_p(double p);

  std::vector<double> logits_;
  Candidates candidates_;
  std::vector<Ranked> ranked_;
};

}  // namespace wl::sampling
