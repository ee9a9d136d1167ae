#include "models/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace wl::models {

namespace {

double plain_frequency(double base, int pair, int rotary_dims) {
  return 1.0 / std::pow(base, 2.0 * pair / static_cast<double>(rotary_dims));
}

double mscale(double factor, double k) {
  return factor <= 1.0 ? 1.0 : 0.1 * k * std::log(factor) + 1.0;
}

}  // namespace

std::vector<float> inverse_frequencies(double base, int rotary_dims) {
  std::vector<float> inv_freq;
  for (int i = 0; i < rotary_dims / 2; ++i) {
    inv_freq.push_back(static_cast<float>(plain_frequency(base, i, rotary_dims)));
  }
  return inv_freq;
}

void divide_frequencies(const std::vector<float>& factors, std::vector<float>* inv_freq) {
  for (size_t i = 0; i < factors.size(); ++i) (*inv_freq)[i] /= factors[i];
}

std::vector<float> llama3_freq_factors(const Llama3Scaling& scaling, double base, int rotary_dims) {
  std::vector<float> factors;
  for (int i = 0; i < rotary_dims / 2; ++i) {
    const double wavelength = 2.0 * std::numbers::pi / plain_frequency(base, i, rotary_dims);
    double factor = 1.0;
    if (wavelength > scaling.original_context / scaling.low_freq_factor) {
      factor = scaling.factor;
    } else if (wavelength >= scaling.original_context / scaling.high_freq_factor) {
      const double smooth = (scaling.original_context / wavelength - scaling.low_freq_factor) /
                            (scaling.high_freq_factor - scaling.low_freq_factor);
      factor = 1.0 / ((1.0 - smooth) / scaling.factor + smooth);
    }
    factors.push_back(static_cast<float>(factor));
  }
  return factors;
}

YarnRange yarn_range(const YarnScaling& scaling, double base, int rotary_dims) {
  const auto pair_of = [&](double turns) {
    return rotary_dims * std::log(scaling.original_context / (2.0 * std::numbers::pi * turns)) /
           (2.0 * std::log(base));
  };
  double low = pair_of(scaling.beta_fast), high = pair_of(scaling.beta_slow);
  if (scaling.is_truncated) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  return {std::max(low, 0.0), std::min(high, rotary_dims - 1.0)};
}

std::vector<float> yarn_frequencies(const YarnScaling& scaling, double base, int rotary_dims) {
  constexpr double kMinWidth = 0.001;  // of the blend, against division by zero
  const YarnRange range = yarn_range(scaling, base, rotary_dims);
  std::vector<float> inv_freq;
  for (int i = 0; i < rotary_dims / 2; ++i) {
    const double width = std::max(range.high - range.low, kMinWidth);
    const double ramp = 1.0 - std::clamp((i - range.low) / width, 0.0, 1.0);
    const double blend = (1.0 - ramp) / scaling.factor + ramp;
    inv_freq.push_back(static_cast<float>(plain_frequency(base, i, rotary_dims) * blend));
  }
  return inv_freq;
}

float yarn_magnitude(double factor, std::optional<double> mscale_factor,
                     std::optional<double> mscale_all_dim) {
  if (mscale_factor && mscale_all_dim) {
    return static_cast<float>(mscale(factor, *mscale_factor) / mscale(factor, *mscale_all_dim));
  }
  return static_cast<float>(mscale(factor, 1.0));
}

float longrope_magnitude(int context, int original_context) {
  if (context <= original_context) return 1.0f;
  const double scale = static_cast<double>(context) / original_context;
  return static_cast<float>(std::sqrt(1.0 + std::log(scale) / std::log(original_context)));
}

}  // namespace wl::models
