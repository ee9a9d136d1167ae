// Qwen 2 and 2.5: Llama with biases on q, k and v.

#include "models/arch/architectures.h"
#include "models/layer_windows.h"
#include "models/rope_config.h"

namespace wl::models {

namespace {

void read(ConfigSource& source, ModelConfig* config) {
  config->ropes = {read_rope(source, *config, {})};
  read_upper_windows(source, config);
}

constexpr std::string_view kHfTypes[] = {"qwen2"};
constexpr std::string_view kBiased[] = {"attn_q", "attn_k", "attn_v"};

}  // namespace

const Architecture kQwen2 = {
    .name = "qwen2", .hf_types = kHfTypes, .read = read, .biased = kBiased};

}  // namespace wl::models
