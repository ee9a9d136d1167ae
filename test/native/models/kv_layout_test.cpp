#include "models/kv_layout.h"

#include "check.h"

using namespace wl::models;

WL_TEST("kv layout: a model without windows has one group with all layers in order") {
  const KvLayout layout = kv_layout(std::vector<int>(3), 1000);
  WL_CHECK_EQ(layout.groups.size(), size_t{1});
  WL_CHECK_EQ(layout.groups[0].window, 0);
  WL_CHECK_EQ(layout.groups[0].num_layers, 3);
  WL_CHECK_EQ(layout.places[2].group, 0);
  WL_CHECK_EQ(layout.places[2].layer, 2);
}

WL_TEST("kv layout: layers are grouped by window, full attention first") {
  const KvLayout layout = kv_layout(std::vector{64, 0, 128, 64, 0}, 1000);
  WL_CHECK_EQ(layout.groups.size(), size_t{3});
  const int windows[] = {0, 128, 64}, num_layers[] = {2, 1, 2};
  for (size_t g = 0; g < 3; ++g) {
    WL_CHECK_EQ(layout.groups[g].window, windows[g]);
    WL_CHECK_EQ(layout.groups[g].num_layers, num_layers[g]);
  }
  const int groups[] = {2, 0, 1, 2, 0}, layers[] = {0, 0, 0, 1, 1};
  for (size_t l = 0; l < 5; ++l) {
    WL_CHECK_EQ(layout.places[l].group, groups[l]);
    WL_CHECK_EQ(layout.places[l].layer, layers[l]);
  }
}

WL_TEST("kv layout: a window that holds the whole context is full attention") {
  const KvLayout layout = kv_layout(std::vector{64, 0, 100, 200}, 100);
  WL_CHECK_EQ(layout.groups.size(), size_t{2});
  WL_CHECK_EQ(layout.groups[0].num_layers, 3);
  WL_CHECK_EQ(layout.groups[1].window, 64);
}

WL_TEST("kv layout: memory is bytes a token for full attention, and a constant for windows") {
  ModelConfig config;
  config.context = 1000;
  config.num_kv_heads = 2;
  config.head_dim = 16;
  for (const int window : {0, 100, 100, 0, 10}) config.layers.push_back({.window = window});
  constexpr int64_t kLayerBytes = 2 * 2 * 16 * 2;  // K and V, heads, head_dim, f16
  const KvMemory memory = kv_memory(config, wl::backend::KvDType::kF16);
  WL_CHECK_EQ(memory.per_token, 2 * kLayerBytes);
  WL_CHECK_EQ(memory.windows, (2 * 100 + 10) * kLayerBytes);
}
