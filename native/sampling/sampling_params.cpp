#include "sampling/sampling_params.h"

#include <sstream>
#include <string>

namespace wl::sampling {
namespace {

// Below this logit / temperature could overflow; above the other bound a penalty could.
constexpr double kMinTemperature = 1e-200;
constexpr double kMaxPenalty = 1e6;
constexpr double kMaxBias = 1e6;

/// Comparisons are written so that NaN is out of every range.
Status check_range(const char* name, double value, double min, double max) {
  if (value >= min && value <= max) return {};
  std::ostringstream message;
  message << name << " is " << value << ", allowed is " << min << " to " << max;
  return {ErrorCode::kInvalidArgument, message.str()};
}

}  // namespace

Status validate(const SamplingParams& params) {
  if (params.temperature != 0) {
    WL_RETURN_IF_ERROR(check_range("temperature", params.temperature, kMinTemperature, 1e6));
  }
  if (params.top_k < 0) {
    return {ErrorCode::kInvalidArgument,
            "top_k is " + std::to_string(params.top_k) + ", allowed is 0 (off) and more"};
  }
  WL_RETURN_IF_ERROR(check_range("top_p", params.top_p, 0, 1));
  WL_RETURN_IF_ERROR(check_range("min_p", params.min_p, 0, 1));
  WL_RETURN_IF_ERROR(
      check_range("repetition_penalty", params.repetition_penalty, 1 / kMaxPenalty, kMaxPenalty));
  WL_RETURN_IF_ERROR(
      check_range("frequency_penalty", params.frequency_penalty, -kMaxPenalty, kMaxPenalty));
  WL_RETURN_IF_ERROR(
      check_range("presence_penalty", params.presence_penalty, -kMaxPenalty, kMaxPenalty));
  for (const TokenBias& bias : params.logit_bias) {
    WL_RETURN_IF_ERROR(check_range("logit_bias", bias.value, -kMaxBias, kMaxBias));
  }
  return {};
}

}  // namespace wl::sampling
