// SmolLM3: Llama with layers that apply no rope at all, every fourth one unless an HF config says
// otherwise; GGUF has no key for it.

#include "models/arch/architectures.h"
#include "models/config_limits.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

constexpr Key kHasRope{nullptr, "no_rope_layers"};  // for each layer: 1 with rope, 0 without
constexpr Key kInterval{nullptr, "no_rope_layer_interval"};
constexpr int kUsualInterval = 4;

void read(ConfigSource& source, ModelConfig* config) {
  config->ropes = {read_rope(source, *config, {.gguf_pairing = RopePairing::kAdjacent})};
  const int interval = source.fields.int_or(kInterval, kUsualInterval, kLayersRange);
  const auto has_rope = source.fields.numbers(kHasRope);
  if (has_rope && has_rope->size() != config->layers.size()) {
    source.fields.fail(ErrorCode::kModelFormat, source.fields.name(kHasRope) + " has " +
                                                    std::to_string(has_rope->size()) +
                                                    " elements, expected one for each layer");
    return;
  }
  for (size_t i = 0; i < config->layers.size(); ++i) {
    const bool rotates =
        has_rope ? (*has_rope)[i] != 0 : (i + 1) % static_cast<size_t>(interval) != 0;
    if (!rotates) config->layers[i].rope = kNoRope;
  }
}

constexpr std::string_view kHfTypes[] = {"smollm3"};

}  // namespace

const Architecture kSmolLm3 = {.name = "smollm3", .hf_types = kHfTypes, .read = read};

}  // namespace wl::models
