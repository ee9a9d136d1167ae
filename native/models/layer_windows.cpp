#include "models/layer_windows.h"

#include <optional>
#include <vector>

#include "models/config_keys.h"
#include "models/config_limits.h"

namespace wl::models {

namespace {

/// What the checkpoint says of each layer; nullopt: nothing.
std::optional<std::vector<bool>> read_layer_kinds(ConfigSource& source) {
  std::vector<bool> slides;
  if (const auto kinds = source.fields.texts(keys::kLayerTypes)) {
    for (const std::string& kind : *kinds) {
      if (kind != "full_attention" && kind != "sliding_attention") {
        source.fields.fail(ErrorCode::kModelArch, "layer_types holds " + quote_bytes(kind) +
                                                      ", which this build does not compute");
      }
      slides.push_back(kind == "sliding_attention");
    }
    return slides;
  }
  const auto pattern = source.fields.numbers(keys::kWindowPattern);
  if (!pattern) return std::nullopt;
  for (const double flag : *pattern) slides.push_back(flag != 0);
  return slides;
}

}  // namespace

void read_windows(ConfigSource& source, ModelConfig* config,
                  const std::function<bool(int layer)>& slides) {
  const auto kinds = read_layer_kinds(source);
  if (kinds && kinds->size() != config->layers.size()) {
    source.fields.fail(ErrorCode::kModelFormat, "the kinds of " + std::to_string(kinds->size()) +
                                                    " layers are given, the model has " +
                                                    std::to_string(config->num_layers));
    return;
  }
  const auto is_sliding = [&](size_t layer) {
    return kinds ? (*kinds)[layer] : slides(static_cast<int>(layer));
  };
  std::optional<int> window;
  for (size_t i = 0; i < config->layers.size(); ++i) {
    if (!is_sliding(i)) continue;
    if (!window) window = source.fields.required_int(keys::kWindow, kContextRange);
    config->layers[i].window = *window;
  }
  source.fields.has(keys::kWindow);  // without a sliding layer its size says nothing
}

void read_upper_windows(ConfigSource& source, ModelConfig* config) {
  const int first =
      source.fields.int_or(keys::kMaxWindowLayers, config->num_layers, {0, kLayersRange.max});
  if (source.is_gguf()) return;
  if (source.fields.bool_or(keys::kUseWindow, false)) {
    return read_windows(source, config, [=](int layer) { return layer >= first; });
  }
  source.fields.has(keys::kWindow);  // a size that the config says not to use
}

int read_window_period(ConfigSource& source, int usual) {
  if (source.fields.numbers(keys::kWindowPattern)) return usual;
  return source.fields.int_or(keys::kWindowPattern, usual, kLayersRange);
}

}  // namespace wl::models
