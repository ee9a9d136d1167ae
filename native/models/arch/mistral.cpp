// Mistral: Llama with a sliding window over all layers. GGUF files call it llama and say nothing of
// a window, so there all layers see everything.

#include "models/arch/architectures.h"
#include "models/config_keys.h"
#include "models/layer_windows.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

void read(ConfigSource& source, ModelConfig* config) {
  config->ropes = {read_rope(source, *config, {.gguf_pairing = RopePairing::kAdjacent})};
  const bool has_window = source.fields.has(keys::kWindow);
  read_windows(source, config, [=](int) { return has_window; });
}

constexpr std::string_view kHfTypes[] = {"mistral"};

}  // namespace

const Architecture kMistral = {.name = "llama", .hf_types = kHfTypes, .read = read};

}  // namespace wl::models
