// Granite, the dense models: Llama with four constants, on the embedding, on what each sub-layer
// adds, on the attention scores and on the logits.

#include "models/arch/architectures.h"
#include "models/config_limits.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

constexpr Key kEmbeddingScale{"embedding_scale", "embedding_multiplier"};
constexpr Key kResidualScale{"residual_scale", "residual_multiplier"};
constexpr Key kAttentionScale{"attention.scale", "attention_multiplier"};
constexpr Key kLogitsDivisor{"logit_scale", "logits_scaling"};

/// In GGUF files 0 says the same as no key.
float read_scale(ConfigSource& source, Key key, float fallback) {
  if (!source.fields.has_positive(key) && source.is_gguf()) return fallback;
  return static_cast<float>(source.fields.number_or(key, fallback, kScaleRange));
}

void read(ConfigSource& source, ModelConfig* config) {
  config->ropes = {read_rope(source, *config, {.gguf_pairing = RopePairing::kAdjacent})};
  config->embedding_scale = read_scale(source, kEmbeddingScale, 1.0f);
  config->residual_scale = read_scale(source, kResidualScale, 1.0f);
  config->attention_scale =
      read_scale(source, kAttentionScale, source.is_gguf() ? config->attention_scale : 1.0f);
  config->logits_divisor =
      source.is_gguf()
          ? static_cast<float>(source.fields.required_number(kLogitsDivisor, kScaleRange))
          : read_scale(source, kLogitsDivisor, 1.0f);
}

constexpr std::string_view kHfTypes[] = {"granite"};

}  // namespace

const Architecture kGranite = {.name = "granite", .hf_types = kHfTypes, .read = read};

}  // namespace wl::models
