#pragma once
// Inverse frequencies of rotary embeddings, plain and scaled: arithmetic only. rope_config.h reads
// the settings.

#include <optional>
#include <vector>

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

struct YarnScaling {
  double factor = 1.0;          // F
  double original_context = 0;  // C, tokens
  double beta_fast = 32.0;      // turns within C above which a pair keeps its frequency
  double beta_slow = 1.0;       // turns below which it is divided by F
  bool is_truncated = true;     // whether the range between them is rounded to whole pairs
};

/// Pairs between which yarn blends: the pair that turns r times within C is
/// dim(r) = rotary_dims ln(C / (2 pi r)) / (2 ln base).
struct YarnRange {
  double low, high;
};
YarnRange yarn_range(const YarnScaling& scaling, double base, int rotary_dims);

/// f_i (ramp_i + (1 - ramp_i) / F), ramp_i falling from 1 at the range's low end to 0 at its high
/// one. Source: Peng et al. 2023, YaRN, section 3.2.
std::vector<float> yarn_frequencies(const YarnScaling& scaling, double base, int rotary_dims);

/// What yarn multiplies cosines and sines by, unless the checkpoint says so itself: 0.1 ln F + 1,
/// or with DeepSeek's two settings mscale(F, mscale) / mscale(F, mscale_all_dim), mscale(F, k) =
/// 0.1 k ln F + 1.
float yarn_magnitude(double factor, std::optional<double> mscale,
                     std::optional<double> mscale_all_dim);

/// sqrt(1 + ln S / ln C) for a context S times longer than the original C; 1 up to S = 1.
/// Source: Ding et al. 2024, LongRoPE, as in the Phi-3 reference implementation.
float longrope_magnitude(int context, int original_context);

}  // namespace wl::models
