#pragma once
// Log probabilities of tokens: log-softmax of the model's own logits, before bias, grammar mask,
// penalties and temperature, as other servers report them by default. What a request's sampling
// made of the logits does not show, so a token that a grammar forced has the probability that the
// model would have given it. float64, sums in index order: the values depend on the row alone.

#include <cstdint>
#include <span>
#include <vector>

namespace wl::sampling {

/// Rows of 1 + k entries end to end: the token asked for, then the k most likely ones by (logit
/// descending, index ascending), which may include it.
struct LogprobRows {
  std::vector<int32_t> tokens;
  std::vector<double> logprobs;
};

/// Appends the row of one position. False, and nothing is appended, when a logit is not finite.
/// Preconditions: token < logits.size(), num_top <= logits.size().
bool append_logprobs(std::span<const float> logits, int32_t token, int num_top, LogprobRows& out);

}  // namespace wl::sampling
