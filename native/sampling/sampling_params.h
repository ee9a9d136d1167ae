#pragma once
// How a request wants its tokens drawn. Neutral values (repetition 1, frequency 0, presence 0,
// top_k 0, top_p 1, min_p 0, no bias) skip a step of the sampler.

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace wl::sampling {

/// Is added to the token's logit.
struct TokenBias {
  int32_t token = 0;
  double value = 0;
};

struct SamplingParams {
  double temperature = 0;  // 0 is greedy
  int top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;  // over prompt + output
  double frequency_penalty = 0;   // over output
  double presence_penalty = 0;
  uint64_t seed = 0;  // Philox key; the caller draws one when the client gave none
  std::vector<TokenBias> logit_bias = {};  // tokens of the vocabulary

  bool is_greedy() const { return temperature == 0 || top_p == 0; }
  bool has_penalties() const {
    return repetition_penalty != 1 || frequency_penalty != 0 || presence_penalty != 0;
  }
};

/// ERR_INVALID_ARGUMENT with the name and value of the first parameter out of range.
Status validate(const SamplingParams& params);

}  // namespace wl::sampling
