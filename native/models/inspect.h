#pragma once
// What a checkpoint holds, for `models inspect` and the tokenizer, without loading weights.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/kv_layout.h"
#include "models/model_config.h"

namespace wl::models {

struct TensorSummary {
  std::string name;            // as in the file
  std::string type;            // "Q4_1"
  std::vector<int64_t> shape;  // slow to fast
  size_t num_bytes = 0;
};

/// What the KV cache of one type costs a sequence.
struct KvCost {
  std::string type;  // "f16", "q8_0", "f32", as the option names it
  KvMemory memory;
};

struct Inspection {
  loader::Container container = loader::Container::kGguf;
  ModelConfig config;  // config.arch is empty when the architecture is refused
  int64_t weight_bytes = 0;
  std::vector<KvCost> kv_costs;  // one a KV type; empty without a sound configuration
  std::vector<TensorSummary> tensors;
  std::map<std::string, loader::MetaValue> metadata;  // GGUF keys; safetensors: empty
  std::vector<Error> refusals;  // why it would not load, all that can be told; empty when it would
};

/// Errors: ERR_MODEL_FILE, ERR_MODEL_FORMAT, ERR_MODEL_TYPE when the container itself cannot be
/// read; a model that is readable but not one this build runs is an Inspection with refusals.
Result<Inspection> inspect_model(const std::string& path);

}  // namespace wl::models
