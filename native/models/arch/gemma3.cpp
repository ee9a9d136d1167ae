// Gemma 3, the text model: norms before and after each sub-layer, GELU, five layers with a sliding
// window to one without, and for either kind its own rope.

#include <cmath>

#include "models/arch/architectures.h"
#include "models/config_keys.h"
#include "models/config_limits.h"
#include "models/layer_windows.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

constexpr Key kQueryScalar{nullptr, "query_pre_attn_scalar"};
constexpr Key kHfLocalRopeBase{nullptr, "rope_local_base_freq"};
constexpr double kUsualLocalRopeBase = 10000.0;
constexpr int kPeriod = 6;
constexpr int kLayersOf27B = 62;

/// Query scale: of all sizes 1 / sqrt(head_dim), but of 27B 1 / sqrt(hidden / heads). GGUF has no
/// key for it, and knows 27B by its layers.
float read_attention_scale(ConfigSource& source, const ModelConfig& config) {
  double scalar = config.head_dim;
  if (!source.is_gguf()) {
    scalar = source.fields.required_number(kQueryScalar, kScaleRange);
  } else if (config.num_layers == kLayersOf27B) {
    scalar = static_cast<double>(config.hidden) / config.num_heads;
  }
  return static_cast<float>(1.0 / std::sqrt(scalar));
}

double read_local_rope_base(ConfigSource& source) {
  if (source.is_gguf()) {
    return source.rope.number_or(keys::kLocalRopeBase, kUsualLocalRopeBase, kRopeBaseRange);
  }
  const std::string type = source.local_rope.text_or(keys::kRopeType, "default");
  if (type != "default") source.local_rope.refuse(keys::kRopeType, "expected \"default\"");
  const double outer =
      source.fields.number_or(kHfLocalRopeBase, kUsualLocalRopeBase, kRopeBaseRange);
  return source.local_rope.number_or(keys::kRopeBase, outer, kRopeBaseRange);
}

void read(ConfigSource& source, ModelConfig* config) {
  config->has_post_norms = true;
  config->norm_adds_one = !source.is_gguf();  // GGUF stores 1 + w
  config->qk_norm = QkNorm::kPerHead;
  config->activation = MlpActivation::kGeluTanh;
  config->embedding_scale = std::sqrt(static_cast<float>(config->hidden));
  config->attention_scale = read_attention_scale(source, *config);
  config->final_softcap =
      static_cast<float>(source.fields.number_or(keys::kFinalSoftcap, 0.0, {-1e-9, 1e6}));

  const int period = read_window_period(source, kPeriod);
  read_windows(source, config, [=](int layer) { return layer % period != period - 1; });
  RopeConfig global = read_rope(source, *config, {});
  RopeConfig local = unscaled_rope(read_local_rope_base(source), global);
  config->ropes = {std::move(global), std::move(local)};
  for (LayerConfig& layer : config->layers) layer.rope = layer.window > 0 ? 1 : 0;
}

constexpr std::string_view kHfTypes[] = {"gemma3_text", "gemma3"};

constexpr TensorRule kTensors[] = {
    {"post_attention_norm", "post_attention_layernorm", {"post_attention_norm"}},
    {"ffn_norm", "pre_feedforward_layernorm", {"ffn_norm"}},
    {"post_ffw_norm", "post_feedforward_layernorm", {"post_ffw_norm"}},
};

}  // namespace

const Architecture kGemma3 = {
    .name = "gemma3", .hf_types = kHfTypes, .read = read, .tensors = kTensors};

}  // namespace wl::models
