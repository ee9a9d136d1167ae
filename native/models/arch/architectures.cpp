#include "models/arch/architectures.h"

#include <algorithm>
#include <set>

namespace wl::models {

namespace {

/// Of those with the same name the first is GGUF's.
constexpr const Architecture* kAll[] = {&kGemma3,  &kGptOss,  &kGranite,  &kLlama,
                                        &kMistral, &kMixtral, &kOlmo2,    &kPhi3,
                                        &kQwen2,   &kQwen3,   &kQwen3Moe, &kSmolLm3};

bool has_name(const Architecture& architecture, loader::Container container,
              std::string_view name) {
  if (container == loader::Container::kGguf) return architecture.name == name;
  return std::find(architecture.hf_types.begin(), architecture.hf_types.end(), name) !=
         architecture.hf_types.end();
}

}  // namespace

const Architecture* find_architecture(loader::Container container, const std::string& name) {
  const auto found = std::find_if(
      std::begin(kAll), std::end(kAll),
      [&](const Architecture* architecture) { return has_name(*architecture, container, name); });
  return found == std::end(kAll) ? nullptr : *found;
}

const Architecture& architecture_of(const ModelConfig& config) {
  const Architecture* architecture = find_architecture(loader::Container::kGguf, config.arch);
  if (architecture == nullptr) throw InternalError("no architecture " + config.arch);
  return *architecture;
}

std::string architecture_names(loader::Container container) {
  std::set<std::string_view> names;
  for (const Architecture* architecture : kAll) {
    if (container == loader::Container::kGguf) {
      names.insert(architecture->name);
    } else {
      names.insert(architecture->hf_types.begin(), architecture->hf_types.end());
    }
  }
  std::string out;
  for (const std::string_view name : names) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

}  // namespace wl::models
