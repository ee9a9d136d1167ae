#include "models/rope_config.h"

#include <algorithm>
#include <cmath>

#include "models/config_keys.h"
#include "models/config_limits.h"
#include "models/rope_scaling.h"
#include "models/tensor_names.h"
#include "quant/dequantize.h"

namespace wl::models {

namespace {

constexpr NumberRange kMagnitudeRange{0.0, 100.0};

/// Tables that only GGUF files have.
const loader::TensorEntry* find_table(const ConfigSource& source, const char* name) {
  return source.is_gguf() ? find_tensor(source.file, name) : nullptr;
}

/// Reads one rope from `settings`, GGUF's keys or HF's object.
class RopeReader {
 public:
  RopeReader(ConfigSource& source, const ModelConfig& config, RopeTraits traits)
      : source_(source), settings_(source.rope), config_(config), traits_(traits) {
    rope_.pairing = source.is_gguf() ? traits.gguf_pairing : RopePairing::kHalves;
  }

  RopeConfig read() {
    read_rotary_dims();
    base_ = read_base();
    rope_.inv_freq = inverse_frequencies(base_, rope_.rotary_dims);
    const std::string type = read_type();
    if (type == "linear" || type == "none") {
      read_linear(type);
    } else if (type == "llama3" && !source_.is_gguf()) {
      read_llama3();
    } else if (type == "yarn") {
      read_yarn();
    } else if (type == "longrope") {
      read_longrope();
    } else {
      settings_.fail(ErrorCode::kModelArch,
                     "rope type " + quote_bytes(type) +
                         " is not supported; this build computes none, linear, llama3, yarn and "
                         "longrope");
    }
    read_factor_tensor();
    return std::move(rope_);
  }

 private:
  void read_rotary_dims() {
    const int head_dim = config_.head_dim;
    if (source_.is_gguf()) {
      rope_.rotary_dims = settings_.int_or(keys::kRotaryDims, head_dim, {2, head_dim});
    } else {
      const NumberRange range{0.0, 1.0};
      const double outer = source_.fields.number_or(keys::kRotaryShare, 1.0, range);
      const double share = settings_.number_or(keys::kRotaryShare, outer, range);
      rope_.rotary_dims = static_cast<int>(std::floor(head_dim * share));
    }
    if (rope_.rotary_dims >= 2 && rope_.rotary_dims % 2 == 0) return;
    settings_.fail(ErrorCode::kModelFormat, "the number of rotary dims is " +
                                                std::to_string(rope_.rotary_dims) +
                                                ", expected an even number");
    rope_.rotary_dims = 2;
  }

  double read_base() {
    double outer = 10000.0;
    if (!source_.is_gguf())
      outer = source_.fields.number_or(keys::kRopeBase, outer, kRopeBaseRange);
    return settings_.number_or(keys::kRopeBase, outer, kRopeBaseRange);
  }

  std::string read_type() {
    const std::string old_type =
        settings_.text_or(keys::kOldRopeType, source_.is_gguf() ? "linear" : "none");
    const std::string type = settings_.text_or(keys::kRopeType, old_type);
    if (type == "su") return "longrope";
    return type == "default" ? "none" : type;
  }

  /// None is linear with factor 1: a GGUF file may keep a factor that it says not to use.
  void read_linear(const std::string& type) {
    double factor = 1.0;
    if (source_.is_gguf()) {
      factor = settings_.number_or(keys::kOldRopeFactor, factor, kScaleRange);
      factor = settings_.number_or(keys::kRopeFactor, factor, kScaleRange);
    } else if (type == "linear") {
      factor = settings_.required_number(keys::kRopeFactor, kScaleRange);
    }
    const bool is_scaled = type == "linear" && factor != 1.0;
    if (find_table(source_, "rope_factors_long.weight") != nullptr) {
      // Files of longrope models need not name its type.
      if (!is_scaled) return read_longrope();
      return settings_.refuse(keys::kRopeFactor, "beside rope_factors_long.weight not supported");
    }
    if (!is_scaled) return;
    rope_.scaling = "linear";
    for (float& frequency : rope_.inv_freq) frequency /= static_cast<float>(factor);
  }

  void read_llama3() {
    Llama3Scaling scaling;
    scaling.factor = settings_.required_number(keys::kRopeFactor, kScaleRange);
    scaling.low_freq_factor = settings_.required_number(keys::kLowFreqFactor, kScaleRange);
    scaling.high_freq_factor = settings_.required_number(keys::kHighFreqFactor, kScaleRange);
    scaling.original_context = settings_.required_int(keys::kOriginalContext, kContextRange);
    if (scaling.high_freq_factor <= scaling.low_freq_factor) {
      settings_.fail(ErrorCode::kModelFormat, "high_freq_factor is not above low_freq_factor");
      return;
    }
    rope_.scaling = "llama3";
    divide_frequencies(llama3_freq_factors(scaling, base_, rope_.rotary_dims), &rope_.inv_freq);
  }

  void read_yarn() {
    YarnScaling scaling;
    scaling.factor = settings_.required_number(keys::kRopeFactor, kScaleRange);
    // Both formats mean the trained context when they do not say.
    scaling.original_context = original_context(config_.context);
    scaling.beta_fast = settings_.number_or(keys::kYarnBetaFast, scaling.beta_fast, kScaleRange);
    scaling.beta_slow = settings_.number_or(keys::kYarnBetaSlow, scaling.beta_slow, kScaleRange);
    scaling.is_truncated = settings_.bool_or(keys::kYarnTruncate, traits_.is_yarn_truncated);
    if (settings_.number_or(keys::kYarnExtrapolation, 1.0, {-1e6, 1e6}) != 1.0) {
      settings_.refuse(keys::kYarnExtrapolation, "this build computes yarn with 1");
    }
    rope_.scaling = "yarn";
    rope_.inv_freq = yarn_frequencies(scaling, base_, rope_.rotary_dims);
    rope_.magnitude = read_yarn_magnitude(scaling.factor);
  }

  float read_yarn_magnitude(double factor) {
    const auto mscale = optional_number(keys::kYarnMscale);
    const auto mscale_all_dim = optional_number(keys::kYarnMscaleAllDim);
    const float computed = yarn_magnitude(factor, mscale, mscale_all_dim);
    const double given = settings_.number_or(keys::kYarnMagnitude, computed, kMagnitudeRange);
    return static_cast<float>(settings_.number_or(keys::kMagnitude, given, kMagnitudeRange));
  }

  void read_longrope() {
    rope_.scaling = "longrope";
    rope_.original_context = original_context(std::nullopt);
    rope_.long_factors = read_longrope_factors(keys::kLongFactors, "rope_factors_long.weight");
    rope_.short_factors = read_longrope_factors(keys::kShortFactors, "rope_factors_short.weight");
    // Some configs repeat the ratio of the two contexts.
    settings_.has(keys::kRopeFactor);
    const double computed = longrope_magnitude(config_.context, rope_.original_context);
    rope_.magnitude =
        static_cast<float>(settings_.number_or(keys::kMagnitude, computed, kMagnitudeRange));
  }

  /// Among the rope settings, or in HF beside them; required without a fallback.
  int original_context(std::optional<int> fallback) {
    const bool is_beside = !source_.is_gguf() && !settings_.has(keys::kOriginalContext) &&
                           source_.fields.has(keys::kOriginalContext);
    ConfigFields& fields = is_beside ? source_.fields : settings_;
    // A context of one token has no logarithm to divide by.
    const IntRange range{2, kContextRange.max};
    return fallback ? fields.int_or(keys::kOriginalContext, *fallback, range)
                    : fields.required_int(keys::kOriginalContext, range);
  }

  std::optional<double> optional_number(Key key) {
    if (!settings_.has(key)) return std::nullopt;
    return settings_.number_or(key, 1.0, kScaleRange);
  }

  std::vector<float> read_longrope_factors(Key key, const char* tensor_name) {
    if (source_.is_gguf()) {
      const loader::TensorEntry* tensor = find_table(source_, tensor_name);
      if (tensor != nullptr) return read_factors(*tensor);
      settings_.fail(ErrorCode::kModelTensor, std::string("tensor ") + tensor_name + " is missing");
      return {};
    }
    const auto numbers = settings_.numbers(key);
    if (!numbers) {
      settings_.fail(ErrorCode::kModelFormat, settings_.name(key) + " is missing or no array");
      return {};
    }
    return checked_factors(settings_.name(key), {numbers->begin(), numbers->end()});
  }

  /// rope_freqs.weight: how llama3 scaling reaches GGUF files, whose metadata says nothing of it.
  void read_factor_tensor() {
    const loader::TensorEntry* tensor = find_table(source_, "rope_freqs.weight");
    if (tensor == nullptr) return;
    if (rope_.scaling == "yarn" || rope_.scaling == "longrope") {
      settings_.fail(ErrorCode::kModelArch,
                     "rope_freqs.weight beside " + rope_.scaling + " scaling is not supported");
      return;
    }
    divide_frequencies(read_factors(*tensor), &rope_.inv_freq);
    rope_.scaling = "llama3";
  }

  std::vector<float> read_factors(const loader::TensorEntry& tensor) {
    const auto traits = dtype_traits(tensor.ggml_type);
    if (!traits || !traits->is_supported) {
      settings_.fail(ErrorCode::kModelType, escape_bytes(tensor.name) + " is " +
                                                dtype_name(tensor.ggml_type) +
                                                ", not supported; use F32");
      return {};
    }
    std::vector<float> factors;
    if (tensor.num_elements() <= config_.head_dim) {
      factors.resize(static_cast<size_t>(tensor.num_elements()));
      quant::dequantize(static_cast<DType>(tensor.ggml_type), tensor.bytes, tensor.num_elements(),
                        factors.data());
    }
    return checked_factors(escape_bytes(tensor.name), std::move(factors));
  }

  std::vector<float> checked_factors(const std::string& name, std::vector<float> factors) {
    const auto expected = static_cast<size_t>(rope_.rotary_dims / 2);
    const auto is_sound = [](float factor) { return std::isfinite(factor) && factor > 0; };
    if (factors.size() != expected) {
      settings_.fail(ErrorCode::kModelTensor,
                     name + " does not have " + std::to_string(expected) + " factors");
      return {};
    }
    if (!std::all_of(factors.begin(), factors.end(), is_sound)) {
      settings_.fail(ErrorCode::kModelTensor,
                     name + " holds a factor that is not finite and positive");
      return {};
    }
    return factors;
  }

  ConfigSource& source_;
  ConfigFields& settings_;
  const ModelConfig& config_;
  RopeTraits traits_;
  double base_ = 0;
  RopeConfig rope_;
};

}  // namespace

RopeConfig read_rope(ConfigSource& source, const ModelConfig& config, RopeTraits traits) {
  return RopeReader(source, config, traits).read();
}

RopeConfig unscaled_rope(double base, const RopeConfig& like) {
  RopeConfig rope;
  rope.pairing = like.pairing;
  rope.rotary_dims = like.rotary_dims;
  rope.inv_freq = inverse_frequencies(base, like.rotary_dims);
  return rope;
}

void refuse_unread_rope_settings(ConfigSource& source, const ModelConfig& config) {
  // How the model was made, not how it is computed.
  constexpr const char* kHarmless[] = {"scaling.finetuned", "finetuned",
                                       "scaling.original_context_length",
                                       "original_max_position_embeddings"};
  for (ConfigFields* settings : {&source.rope, &source.local_rope}) {
    for (const std::string& name : settings->unread()) {
      if (std::find(std::begin(kHarmless), std::end(kHarmless), name) != std::end(kHarmless))
        continue;
      settings->refuse_unread(name, config.arch);
    }
  }
}

}  // namespace wl::models
