// Llama 1 to 3, and the many models that are built like it. Llama 3's rope scaling is a setting in
// HF configs and a table of factors in GGUF files. Mixtral's GGUF files are of this name too: those
// that count experts.

#include "models/arch/architectures.h"
#include "models/config_keys.h"
#include "models/experts.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

void read(ConfigSource& source, ModelConfig* config) {
  config->ropes = {read_rope(source, *config, {.gguf_pairing = RopePairing::kAdjacent})};
  const bool is_mixtral = source.is_gguf() && source.fields.has_positive(keys::kNumExperts);
  if (is_mixtral) read_mixtral_experts(source, config);
}

constexpr std::string_view kHfTypes[] = {"llama"};

}  // namespace

const Architecture kLlama = {.name = "llama", .hf_types = kHfTypes, .read = read};

}  // namespace wl::models
