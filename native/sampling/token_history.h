#pragma once
// Which tokens a response has seen, and how often it produced them: what the penalties need,
// kept up to date token by token instead of recounted at every step.

#include <cstdint>
#include <span>
#include <unordered_map>

#include "sampling/sampling_params.h"

namespace wl::sampling {

class TokenHistory {
 public:
  void add_prompt(std::span<const int32_t> tokens) {
    for (const int32_t token : tokens) num_outputs_.try_emplace(token, 0);
  }
  void add_output(int32_t token) { ++num_outputs_[token]; }

  /// Repetition r over every token seen: l > 0 ? l / r : l * r; then over the output
  /// l -= count * frequency + [count > 0] * presence.
  void apply_penalties(const SamplingParams& params, std::span<double> logits) const {
    for (const auto& [token, num_outputs] : num_outputs_) {
      double& logit = logits[static_cast<size_t>(token)];
      if (logit > 0) {
        logit /= params.repetition_penalty;
      } else {
        logit *= params.repetition_penalty;
      }
      logit -= num_outputs * params.frequency_penalty;
      if (num_outputs > 0) logit -= params.presence_penalty;
    }
  }

 private:
  std::unordered_map<int32_t, int> num_outputs_;  // token seen -> times in the output
};

}  // namespace wl::sampling
