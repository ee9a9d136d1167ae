#include "engine/request_limits.h"

#include <algorithm>
#include <string>

namespace wl::engine {
namespace {

constexpr int kMaxTopLogprobs = 20;
constexpr size_t kMaxSaltBytes = 1024;  // its length has 16 bits in the block hash

Status invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Status check_token(const char* owner, int32_t token, int vocab) {
  if (token >= 0 && token < vocab) return {};
  return invalid(std::string(owner) + " has token " + std::to_string(token) +
                 ", the vocabulary has " + std::to_string(vocab));
}

Status check_tokens(const std::vector<int32_t>& tokens, int vocab) {
  for (const int32_t token : tokens) WL_RETURN_IF_ERROR(check_token("the prompt", token, vocab));
  return {};
}

Status check_logprobs(const LogprobOptions& logprobs, int vocab) {
  const int max = std::min(kMaxTopLogprobs, vocab);
  if (logprobs.num_top >= 0 && logprobs.num_top <= max) return {};
  return invalid(std::to_string(logprobs.num_top) +
                 " of the most likely tokens were asked for, allowed is 0 to " +
                 std::to_string(max));
}

}  // namespace

RequestLimits request_limits(const EngineConfig& config, const ModelRunner& runner) {
  int64_t capacity = config.max_context_tokens;
  for (const kv::KvGroupConfig& group : runner.kv_groups()) {
    capacity = std::min(capacity, kv::max_sequence_tokens(group, runner.block_size()));
  }
  return {runner.vocab(), static_cast<int>(capacity)};
}

Status validate(const RequestOptions& options, const RequestLimits& limits, int num_joined) {
  if (options.tokens.empty()) return invalid("the request has no tokens");
  if (!options.prefill_only && options.max_output_tokens < 1) {
    return invalid("max_output_tokens is " + std::to_string(options.max_output_tokens) +
                   ", it must be at least 1");
  }
  if (options.tenant_salt.size() > kMaxSaltBytes) {
    return invalid("the tenant salt has " + std::to_string(options.tenant_salt.size()) +
                   " bytes, at most " + std::to_string(kMaxSaltBytes) + " are allowed");
  }
  if (options.grammar != nullptr &&
      options.grammar->num_tokens() > static_cast<size_t>(limits.vocab)) {
    return invalid("the grammar is over a vocabulary of " +
                   std::to_string(options.grammar->num_tokens()) + " tokens, the model has " +
                   std::to_string(limits.vocab));
  }
  WL_RETURN_IF_ERROR(check_tokens(options.tokens, limits.vocab));
  WL_RETURN_IF_ERROR(sampling::validate(options.sampling));
  for (const sampling::TokenBias& bias : options.sampling.logit_bias) {
    WL_RETURN_IF_ERROR(check_token("logit_bias", bias.token, limits.vocab));
  }
  if (options.logprobs) WL_RETURN_IF_ERROR(check_logprobs(*options.logprobs, limits.vocab));
  return check_length(options, limits, num_joined);
}

Status check_length(const RequestOptions& options, const RequestLimits& limits, int num_joined) {
  const int64_t num_prompt = int64_t{num_joined} + static_cast<int64_t>(options.tokens.size());
  if (num_prompt + (options.prefill_only ? 0 : 1) <= limits.max_sequence_tokens) return {};
  return {ErrorCode::kContextTooLong,
          "the prompt has " + std::to_string(num_prompt) + " tokens, this engine takes " +
              std::to_string(limits.max_sequence_tokens) + " with the output"};
}

}  // namespace wl::engine
