// Phi 3, 3.5 and 4: q, k and v in one tensor, gate and up in another, part of each head rotates,
// and long contexts by longrope.

#include "models/arch/architectures.h"
#include "models/config_keys.h"
#include "models/layer_windows.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

void read(ConfigSource& source, ModelConfig* config) {
  config->ropes = {read_rope(source, *config, {})};
  // GGUF writes 0 for a model without a window.
  const bool has_window = source.fields.has_positive(keys::kWindow);
  read_windows(source, config, [=](int) { return has_window; });
}

constexpr std::string_view kHfTypes[] = {"phi3"};

constexpr TensorRule kTensors[] = {
    {"ffn_up", "mlp.gate_up_proj", {"ffn_gate", "ffn_up"}},
};

}  // namespace

const Architecture kPhi3 = {
    .name = "phi3", .hf_types = kHfTypes, .read = read, .tensors = kTensors};

}  // namespace wl::models
