// OLMo 2: norms only after each sub-layer, and q and k normalised over their whole width. OLMo 3
// shares the GGUF name and adds a sliding window: refused until it can be tested.

#include "models/arch/architectures.h"
#include "models/config_keys.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

void read(ConfigSource& source, ModelConfig* config) {
  if (source.fields.has_positive(keys::kWindow)) {
    source.fields.refuse(keys::kWindow, "which makes it OLMo 3, not supported");
  }
  config->has_pre_norms = false;
  config->has_post_norms = true;
  config->qk_norm = QkNorm::kWholeWidth;
  config->ropes = {read_rope(source, *config, {})};
}

constexpr std::string_view kHfTypes[] = {"olmo2"};

constexpr TensorRule kTensors[] = {
    {"post_attention_norm", "post_attention_layernorm", {"post_attention_norm"}},
    {"post_ffw_norm", "post_feedforward_layernorm", {"post_ffw_norm"}},
};

}  // namespace

const Architecture kOlmo2 = {
    .name = "olmo2", .hf_types = kHfTypes, .read = read, .tensors = kTensors};

}  // namespace wl::models
