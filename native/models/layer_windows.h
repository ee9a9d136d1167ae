#pragma once
// Which layers see only a window of the keys before them.

#include <functional>

#include "models/config_source.h"
#include "models/model_config.h"

namespace wl::models {

/// Sets LayerConfig::window. What the checkpoint says of each layer counts (HF layer_types, GGUF's
/// pattern when it is an array), else `slides`. The window's size is required when any layer
/// slides.
void read_windows(ConfigSource& source, ModelConfig* config,
                  const std::function<bool(int layer)>& slides);

/// HF's use_sliding_window with max_window_layers: the layers from that one on slide.
void read_upper_windows(ConfigSource& source, ModelConfig* config);

/// Layers of one period, the last of which sees everything: what the checkpoint says, else `usual`.
int read_window_period(ConfigSource& source, int usual);

}  // namespace wl::models
