#pragma once
// Which KV cache holds the keys and values of which layer. Layers that see the same number of keys
// form a group: one cache, one set of blocks, one block table a sequence. A model without sliding
// windows has one group.

#include <cstdint>
#include <span>
#include <vector>

#include "backend/kv_cache.h"
#include "models/model_config.h"

namespace wl::models {

struct KvGroup {
  int window = 0;  // keys that a query sees, its own included; 0: all before it
  int num_layers = 0;
};

/// Where a layer's keys and values are.
struct KvPlace {
  int group = 0;
  int layer = 0;  // among the layers of its group
};

struct KvLayout {
  std::vector<KvGroup> groups;  // full attention first, then the widest window first
  std::vector<KvPlace> places;  // [num_layers]
};

/// windows [num_layers], 0: full attention. One that no sequence of `context` tokens can outgrow is
/// full attention too.
KvLayout kv_layout(std::span<const int> windows, int context);

KvLayout kv_layout(const ModelConfig& config);

/// A description of a group's cache, without memory: what a block costs.
backend::KvCache kv_cache_shape(const ModelConfig& config, const KvGroup& group,
                                backend::KvDType type, int num_blocks);

/// KV bytes of one sequence.
struct KvMemory {
  int64_t per_token = 0;  // of layers that see all tokens
  int64_t windows = 0;    // of all others, once the sequence has filled their windows
};

KvMemory kv_memory(const ModelConfig& config, backend::KvDType type);

}  // namespace wl::models
