#include "models/kv_layout.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace wl::models {

KvLayout kv_layout(std::span<const int> windows, int context) {
  constexpr int kAll = std::numeric_limits<int>::max();
  const auto reach = [&](int window) { return window > 0 && window < context ? window : kAll; };
  std::map<int, int, std::greater<>> num_layers;  // by reach
  for (const int window : windows) ++num_layers[reach(window)];

  KvLayout layout;
  std::map<int, int> group_of;  // by reach
  for (const auto& [keys, count] : num_layers) {
    group_of[keys] = static_cast<int>(layout.groups.size());
    layout.groups.push_back({keys == kAll ? 0 : keys, count});
  }
  std::vector<int> num_placed(layout.groups.size());
  for (const int window : windows) {
    const int group = group_of[reach(window)];
    layout.places.push_back({group, num_placed[static_cast<size_t>(group)]++});
  }
  return layout;
}

KvLayout kv_layout(const ModelConfig& config) {
  std::vector<int> windows;
  for (const LayerConfig& layer : config.layers) windows.push_back(layer.window);
  return kv_layout(windows, config.context);
}

backend::KvCache kv_cache_shape(const ModelConfig& config, const KvGroup& group,
                                backend::KvDType type, int num_blocks) {
  backend::KvCache cache;
  cache.dtype = type;
  cache.num_layers = group.num_layers;
  cache.num_blocks = num_blocks;
  cache.num_kv_heads = config.num_kv_heads;
  cache.head_dim = config.head_dim;
  return cache;
}

KvMemory kv_memory(const ModelConfig& config, backend::KvDType type) {
  KvMemory memory;
  for (const KvGroup& group : kv_layout(config).groups) {
    const backend::KvCache block = kv_cache_shape(config, group, type, 1);
    const auto token_bytes =
        static_cast<int64_t>(block.k_bytes() + block.v_bytes()) / backend::kKvBlockSize;
    (group.window > 0 ? memory.windows : memory.per_token) +=
        token_bytes * std::max(group.window, 1);
  }
  return memory;
}

}  // namespace wl::models
