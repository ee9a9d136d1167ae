#pragma once
// Inverse frequencies of rotary embeddings, plain and scaled.

#include <vector>

#include "base/result.h"
#include "loader/model_file.h"

namespace wl::models {

/// 1 / base^(2i / rotary_dims). Kept in float32, as models were trained: at position p the angle is
/// float(p) * inv_freq[i]. [rotary_dims / 2]
std::vector<float> inverse_frequencies(double base, int rotary_dims);

/// inv_freq[i] /= factors[i]
void divide_frequencies(const std::vector<float>& factors, std::vector<float>* inv_freq);

struct Llama3Scaling {
  double factor = 1.0;            // F
  double low_freq_factor = 1.0;   // L
  double high_freq_factor = 4.0;  // H, above L
  double original_context = 0;    // C, tokens
};

/// With the wavelength w_i = 2 pi base^(2i / rotary_dims): 1 below C/H, F above C/L, and between
/// them 1 / ((1 - s) / F + s), s = (C/w - L) / (H - L). [rotary_dims / 2]
/// Source: Llama 3.1 reference implementation, rope scaling "llama3".
std::vector<float> llama3_freq_factors(const Llama3Scaling& scaling, double base, int rotary_dims);

/// Factors that a GGUF file stores as a tensor (rope_freqs.weight) of `rotary_dims` / 2 floats.
/// Errors: ERR_MODEL_TENSOR (length, a factor that is not finite and positive), ERR_MODEL_TYPE.
Result<std::vector<float>> read_freq_factors(const loader::TensorEntry& tensor, int rotary_dims);

}  // namespace wl::models
