// Mixtral: Mistral with a mixture of experts in every layer. Its GGUF files are llama's.

#include "models/arch/architectures.h"
#include "models/experts.h"

namespace wl::models {

namespace {

void read(ConfigSource& source, ModelConfig* config) {
  kMistral.read(source, config);
  read_mixtral_experts(source, config);
}

constexpr std::string_view kHfTypes[] = {"mixtral"};

}  // namespace

const Architecture kMixtral = {.name = "llama", .hf_types = kHfTypes, .read = read};

}  // namespace wl::models
