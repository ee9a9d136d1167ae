#include "models/tensor_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace wl::models {

namespace {

using NamePair = std::pair<std::string_view, std::string_view>;  // HF module, GGUF module

constexpr std::array<NamePair, 3> kModelModules = {{
    {"model.embed_tokens", "token_embd"},
    {"model.norm", "output_norm"},
    {"lm_head", "output"},
}};

constexpr std::array<NamePair, 9> kLayerModules = {{
    {"input_layernorm", "attn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"post_attention_layernorm", "ffn_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
}};

constexpr std::string_view kHfLayers = "model.layers.";
constexpr std::string_view kGgufLayers = "blk.";

template <size_t n>
std::optional<std::string> translate(const std::array<NamePair, n>& table,
                                     std::string_view module) {
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const NamePair& pair) { return pair.first == module; });
  if (row == table.end()) return std::nullopt;
  return std::string(row->second);
}

/// Multimodal checkpoints nest the text model one level deeper.
std::string strip_multimodal_prefix(const std::string& name) {
  constexpr std::string_view kOuter = "model.language_model.";
  constexpr std::string_view kInner = "language_model.";
  if (name.starts_with(kOuter)) return "model." + name.substr(kOuter.size());
  if (name.starts_with(kInner)) return name.substr(kInner.size());
  return name;
}

/// Reads the decimal number that `text` begins with and drops it together with the dot behind it.
std::optional<int> take_layer(std::string_view* text) {
  int layer = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), layer);
  const bool has_leading_zero = text->size() > 1 && (*text)[0] == '0' && (*text)[1] != '.';
  if (error != std::errc() || layer < 0 || has_leading_zero) return std::nullopt;
  const auto length = static_cast<size_t>(end - text->data());
  if (length >= text->size() || (*text)[length] != '.') return std::nullopt;
  text->remove_prefix(length + 1);
  return layer;
}

}  // namespace

std::string block_tensor_name(int layer, const std::string& suffix) {
  return std::string(kGgufLayers) + std::to_string(layer) + "." + suffix;
}

std::optional<std::string> gguf_name_of_hf(const std::string& hf_name) {
  const std::string name = strip_multimodal_prefix(hf_name);
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string kind = name.substr(dot);
  if (kind != ".weight" && kind != ".bias") return std::nullopt;
  std::string_view module = std::string_view(name).substr(0, dot);
  if (!module.starts_with(kHfLayers)) {
    const auto translated = translate(kModelModules, module);
    return translated ? std::optional(*translated + kind) : std::nullopt;
  }
  module.remove_prefix(kHfLayers.size());
  const auto layer = take_layer(&module);
  const auto translated = translate(kLayerModules, module);
  if (!layer || !translated) return std::nullopt;
  return block_tensor_name(*layer, *translated + kind);
}

std::optional<std::string> canonical_name(const loader::ModelFile& file, const std::string& name) {
  if (file.container == loader::Container::kGguf) return name;
  return gguf_name_of_hf(name);
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

std::optional<int> layer_of(const std::string& canonical) {
  if (!canonical.starts_with(kGgufLayers)) return std::nullopt;
  std::string_view rest = std::string_view(canonical).substr(kGgufLayers.size());
  return take_layer(&rest);
}

const loader::TensorEntry* find_tensor(const loader::ModelFile& file,
                                       const std::string& canonical) {
  for (const loader::TensorEntry& tensor : file.tensors) {
    if (canonical_name(file, tensor.name) == canonical) return &tensor;
  }
  return nullptr;
}

}  // namespace wl::models
