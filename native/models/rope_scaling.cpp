#include "models/rope_scaling.h"

#include <cmath>
#include <numbers>

#include "quant/dequantize.h"

namespace wl::models {

std::vector<float> inverse_frequencies(double base, int rotary_dims) {
  std::vector<float> inv_freq(static_cast<size_t>(rotary_dims / 2));
  for (size_t i = 0; i < inv_freq.size(); ++i) {
    const double exponent = 2.0 * static_cast<double>(i) / rotary_dims;
    inv_freq[i] = static_cast<float>(1.0 / std::pow(base, exponent));
  }
  return inv_freq;
}

void divide_frequencies(const std::vector<float>& factors, std::vector<float>* inv_freq) {
  for (size_t i = 0; i < factors.size(); ++i) (*inv_freq)[i] /= factors[i];
}

std::vector<float> llama3_freq_factors(const Llama3Scaling& scaling, double base, int rotary_dims) {
  std::vector<float> factors;
  for (int i = 0; i < rotary_dims / 2; ++i) {
    const double wavelength =
        2.0 * std::numbers::pi * std::pow(base, 2.0 * i / static_cast<double>(rotary_dims));
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

Result<std::vector<float>> read_freq_factors(const loader::TensorEntry& tensor, int rotary_dims) {
  const auto traits = dtype_traits(tensor.ggml_type);
  if (!traits || !traits->is_supported) {
    return Error{ErrorCode::kModelType, escape_bytes(tensor.name) + " is " +
                                            dtype_name(tensor.ggml_type) +
                                            ", not supported; use F32"};
  }
  if (tensor.num_elements() != rotary_dims / 2) {
    return Error{ErrorCode::kModelTensor,
                 escape_bytes(tensor.name) + " has " + std::to_string(tensor.num_elements()) +
                     " elements, expected " + std::to_string(rotary_dims / 2)};
  }
  std::vector<float> factors(static_cast<size_t>(rotary_dims / 2));
  quant::dequantize(static_cast<DType>(tensor.ggml_type), tensor.bytes, rotary_dims / 2,
                    factors.data());
  for (const float factor : factors) {
    if (!std::isfinite(factor) || factor <= 0) {
      return Error{ErrorCode::kModelTensor,
                   escape_bytes(tensor.name) + " holds a factor that is not finite and positive"};
    }
  }
  return factors;
}

}  // namespace wl::models
