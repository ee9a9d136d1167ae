#include "models/tensor_names.h"

#include <algorithm>
#include <charconv>

namespace wl::models {

namespace {

using loader::Container;

constexpr std::string_view kHfLayers = "model.layers.";
constexpr std::string_view kGgufLayers = "blk.";
constexpr std::string_view kKinds[] = {".weight", ".bias"};
constexpr int kMaxNumber = 1 << 20;  // of layers and experts: far above any

/// Multimodal checkpoints nest the text model one level deeper.
std::string strip_multimodal_prefix(const std::string& name) {
  constexpr std::string_view kOuter = "model.language_model.";
  constexpr std::string_view kInner = "language_model.";
  if (name.starts_with(kOuter)) return "model." + name.substr(kOuter.size());
  if (name.starts_with(kInner)) return name.substr(kInner.size());
  return name;
}

/// Takes a decimal number without leading zeros off the front.
std::optional<int> take_number(std::string_view* text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 0 || number > kMaxNumber) return std::nullopt;
  const auto length = static_cast<size_t>(end - text->data());
  if (length > 1 && (*text)[0] == '0') return std::nullopt;
  text->remove_prefix(length);
  return number;
}

/// Takes "3." off the front.
std::optional<int> take_layer(std::string_view* text) {
  const auto layer = take_number(text);
  if (!layer || !text->starts_with('.')) return std::nullopt;
  text->remove_prefix(1);
  return layer;
}

std::string inner_name(Container container, const std::string& name) {
  return container == Container::kGguf ? name : strip_multimodal_prefix(name);
}

/// Takes the layer's prefix off the front; nullopt, and nothing taken, for another name.
std::optional<int> take_layer_prefix(Container container, std::string_view* name) {
  const std::string_view prefix = container == Container::kGguf ? kGgufLayers : kHfLayers;
  if (!name->starts_with(prefix)) return std::nullopt;
  std::string_view rest = name->substr(prefix.size());
  const auto layer = take_layer(&rest);
  if (layer) *name = rest;
  return layer;
}

/// Whether `name` is `pattern`, whose '#' stands for a number.
bool matches(std::string_view pattern, std::string_view name, std::optional<int>* number) {
  const size_t hash = pattern.find('#');
  if (hash == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, hash))) return false;
  name.remove_prefix(hash);
  *number = take_number(&name);
  return *number && name == pattern.substr(hash + 1);
}

bool names_kind(std::string_view target) {
  return std::any_of(std::begin(kKinds), std::end(kKinds),
                     [&](std::string_view kind) { return target.ends_with(kind); });
}

std::optional<TensorPlace> match_rule(const TensorRule& rule, Container container,
                                      std::string_view name) {
  const std::string_view pattern = container == Container::kGguf ? rule.gguf : rule.hf;
  if (pattern.empty()) return std::nullopt;
  TensorPlace place;
  place.rule = &rule;
  if (names_kind(rule.targets[0])) {
    if (!matches(pattern, name, &place.expert)) return std::nullopt;
    return place;
  }
  for (const std::string_view kind : kKinds) {
    if (!name.ends_with(kind)) continue;
    place.kind = kind;
    if (matches(pattern, name.substr(0, name.size() - kind.size()), &place.expert)) return place;
  }
  return std::nullopt;
}

std::optional<TensorPlace> match_any(std::span<const TensorRule> rules, Container container,
                                     std::string_view name) {
  for (const TensorRule& rule : rules) {
    if (auto place = match_rule(rule, container, name)) return place;
  }
  return std::nullopt;
}

}  // namespace

std::string TensorPlace::target_name(std::string_view target,
                                     std::optional<int> expert_of_stack) const {
  std::string name(target);
  std::string target_kind = kind;
  if (names_kind(target)) {
    const size_t dot = name.rfind('.');
    target_kind = name.substr(dot);
    name.resize(dot);
  }
  if (const auto number = expert ? expert : expert_of_stack) {
    name += '.';
    name += std::to_string(*number);
  }
  return layer ? block_tensor_name(*layer, name + target_kind) : name + target_kind;
}

std::optional<TensorPlace> place_of(Container container, const std::string& name,
                                    std::span<const TensorRule> architecture_rules) {
  const std::string inner = inner_name(container, name);
  std::string_view rest = inner;
  const auto layer = take_layer_prefix(container, &rest);
  if (!layer) return match_any(model_tensor_rules(), container, rest);
  auto place = match_any(architecture_rules, container, rest);
  if (!place) place = match_any(layer_tensor_rules(), container, rest);
  if (place) place->layer = layer;
  return place;
}

std::optional<int> layer_in_name(Container container, const std::string& name) {
  const std::string inner = inner_name(container, name);
  std::string_view rest = inner;
  return take_layer_prefix(container, &rest);
}

std::string block_tensor_name(int layer, std::string_view suffix) {
  return std::string(kGgufLayers) + std::to_string(layer) + "." + std::string(suffix);
}

bool is_ignorable(const std::string& name) {
  constexpr std::string_view kOtherModalities[] = {"visual.", "vision_tower.",
                                                   "multi_modal_projector.", "audio"};
  constexpr std::string_view kRecomputed[] = {"rotary_emb.inv_freq", ".attn_rot_embd",
                                              ".attn_rot_embd.weight"};
  std::string_view inner = name;
  if (inner.starts_with("model.")) inner.remove_prefix(6);
  return std::any_of(std::begin(kOtherModalities), std::end(kOtherModalities),
                     [&](std::string_view prefix) { return inner.starts_with(prefix); }) ||
         std::any_of(std::begin(kRecomputed), std::end(kRecomputed),
                     [&](std::string_view suffix) { return inner.ends_with(suffix); });
}

bool is_rope_table(Container container, const std::string& name) {
  return container == Container::kGguf &&
         (name == "rope_freqs.weight" || name == "rope_factors_long.weight" ||
          name == "rope_factors_short.weight");
}

const loader::TensorEntry* find_tensor(const loader::ModelFile& file, const std::string& name) {
  const auto found = std::find_if(file.tensors.begin(), file.tensors.end(),
                                  [&](const auto& tensor) { return tensor.name == name; });
  return found == file.tensors.end() ? nullptr : &*found;
}

}  // namespace wl::models
