#pragma once
// Tensor names of the two containers. GGUF's names are the ones used inside; HF's translate.

#include <optional>
#include <string>

#include "loader/model_file.h"

namespace wl::models {

/// "blk.3.attn_q.weight".
std::string block_tensor_name(int layer, const std::string& suffix);

/// GGUF name of an HF tensor, multimodal prefixes stripped; nullopt when no decoder tensor of ours
/// has that name.
std::optional<std::string> gguf_name_of_hf(const std::string& hf_name);

/// The name inside, whatever the container; nullopt as above.
std::optional<std::string> canonical_name(const loader::ModelFile& file, const std::string& name);

/// Tensors that carry nothing the text model needs: recomputed tables, other modalities.
bool is_ignorable(const std::string& name);

/// Layer number of a canonical "blk.N." name, or nullopt.
std::optional<int> layer_of(const std::string& canonical);

/// The tensor of that canonical name, or nullptr.
const loader::TensorEntry* find_tensor(const loader::ModelFile& file, const std::string& canonical);

}  // namespace wl::models
