#pragma once
// Tensor names of the two containers, matched with the rules that say what they hold.

#include <optional>
#include <span>
#include <string>

#include "loader/model_file.h"
#include "models/tensor_rules.h"

namespace wl::models {

/// What a tensor of a checkpoint is.
struct TensorPlace {
  const TensorRule* rule = nullptr;
  std::optional<int> layer;   // nullopt: of the model
  std::optional<int> expert;  // of a tensor of one expert
  std::string kind;           // ".weight" or ".bias"; empty where the rule's targets name it

  /// "blk.3.ffn_gate_exps.7.weight"
  std::string target_name(std::string_view target, std::optional<int> expert_of_stack) const;
};

/// By the rules of the architecture first, then by those that any may have; multimodal prefixes do
/// not count. nullopt: no rule has that name.
std::optional<TensorPlace> place_of(loader::Container container, const std::string& name,
                                    std::span<const TensorRule> architecture_rules);

/// Layer number in a tensor's name, or nullopt.
std::optional<int> layer_in_name(loader::Container container, const std::string& name);

/// "blk.3.attn_q.weight".
std::string block_tensor_name(int layer, std::string_view suffix);

/// Tensors that carry nothing the text model needs: recomputed tables, other modalities.
bool is_ignorable(const std::string& name);

/// Tables that rope_config.h reads; no weights of the decoder.
bool is_rope_table(loader::Container container, const std::string& name);

/// The tensor of that name in the file, or nullptr.
const loader::TensorEntry* find_tensor(const loader::ModelFile& file, const std::string& name);

}  // namespace wl::models
