// Qwen 3: no biases, and every head of q and k is normalised before it rotates.

#include "models/arch/architectures.h"
#include "models/layer_windows.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

void read(ConfigSource& source, ModelConfig* config) {
  config->qk_norm = QkNorm::kPerHead;
  config->ropes = {read_rope(source, *config, {})};
  read_upper_windows(source, config);
}

constexpr std::string_view kHfTypes[] = {"qwen3"};

}  // namespace

const Architecture kQwen3 = {.name = "qwen3", .hf_types = kHfTypes, .read = read};

}  // namespace wl::models
