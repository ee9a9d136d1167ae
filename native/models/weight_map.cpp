#include "models/weight_map.h"

#include <cmath>

#include "models/tensor_names.h"

namespace wl::models {

namespace {

using Shape = std::vector<int64_t>;

struct WeightSpec {
  Shape shape;  // slow to fast
  bool is_required;
};
using WeightSpecs = std::map<std::string, WeightSpec>;

/// Every tensor that a decoder of this configuration may have.
WeightSpecs weight_specs(const ModelConfig& c) {
  const int64_t hidden = c.hidden, ffn = c.ffn, vocab = c.vocab;
  const int64_t q = int64_t{c.num_heads} * c.head_dim, kv = int64_t{c.num_kv_heads} * c.head_dim;
  WeightSpecs specs = {
      {"token_embd.weight", {{vocab, hidden}, true}},
      {"output_norm.weight", {{hidden}, true}},
      {"output.weight", {{vocab, hidden}, !c.is_tied}},
      {"output.bias", {{vocab}, false}},
  };
  const std::pair<const char*, WeightSpec> layer_specs[] = {
      {"attn_norm.weight", {{hidden}, true}},
      {"attn_q.weight", {{q, hidden}, true}},
      {"attn_k.weight", {{kv, hidden}, true}},
      {"attn_v.weight", {{kv, hidden}, true}},
      {"attn_output.weight", {{hidden, q}, true}},
      {"ffn_norm.weight", {{hidden}, true}},
      {"ffn_gate.weight", {{ffn, hidden}, true}},
      {"ffn_up.weight", {{ffn, hidden}, true}},
      {"ffn_down.weight", {{hidden, ffn}, true}},
      {"attn_q.bias", {{q}, c.has_qkv_bias}},
      {"attn_k.bias", {{kv}, c.has_qkv_bias}},
      {"attn_v.bias", {{kv}, c.has_qkv_bias}},
      {"attn_output.bias", {{hidden}, false}},
      {"ffn_gate.bias", {{ffn}, false}},
      {"ffn_up.bias", {{ffn}, false}},
      {"ffn_down.bias", {{hidden}, false}},
  };
  for (int layer = 0; layer < c.num_layers; ++layer) {
    for (const auto& [suffix, spec] : layer_specs) {
      specs.emplace(block_tensor_name(layer, suffix), spec);
    }
  }
  return specs;
}

/// Consumed by read_model_config, not a weight of the forward pass.
bool is_rope_table(const std::string& name) { return name == "rope_freqs.weight"; }

std::string shown_shape(const Shape& shape) {
  std::string out(1, '[');
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(shape[i]);
  }
  return out + "]";
}

/// Leading dims of 1 say nothing: [1, 64] is [64].
Shape without_leading_ones(const Shape& shape) {
  size_t first = 0;
  while (first + 1 < shape.size() && shape[first] == 1) ++first;
  return Shape(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end());
}

double bits_per_weight(const DTypeTraits& traits) {
  return 8.0 * traits.block_bytes / traits.block_elems;
}

/// Supported types with the number of bits nearest to an unsupported one's, for rows of that
/// length: "Q4_0 or Q4_K".
std::string nearest_supported(const DTypeTraits& refused, int64_t row_elems) {
  constexpr DType kSupported[] = {DType::kF32,  DType::kBF16, DType::kQ8_0,   DType::kQ6_K,
                                  DType::kQ5_K, DType::kQ5_1, DType::kQ5_0,   DType::kQ4_K,
                                  DType::kQ4_1, DType::kQ4_0, DType::kIQ4_NL, DType::kIQ4_XS,
                                  DType::kQ3_K, DType::kQ2_K};
  double best = HUGE_VAL;
  std::string names;
  for (const DType type : kSupported) {
    const DTypeTraits traits = dtype_traits(type);
    if (row_elems % traits.block_elems != 0) continue;
    const double distance = std::fabs(bits_per_weight(traits) - bits_per_weight(refused));
    if (distance > best) continue;
    names = distance < best ? traits.name : names + " or " + traits.name;
    best = distance;
  }
  return names;
}

Status check_type(const std::string& name, const loader::TensorEntry& tensor) {
  const auto traits = dtype_traits(tensor.ggml_type);
  if (traits && traits->is_supported) return {};
  std::string message = name + " is " + dtype_name(tensor.ggml_type) + ", not supported";
  if (traits) message += "; use " + nearest_supported(*traits, tensor.shape.back());
  return Error{ErrorCode::kModelType, message};
}

Status check_tensor(const std::string& name, const loader::TensorEntry& tensor,
                    const WeightSpec& spec) {
  WL_RETURN_IF_ERROR(check_type(name, tensor));
  if (without_leading_ones(tensor.shape) == without_leading_ones(spec.shape)) return {};
  return Error{ErrorCode::kModelTensor, name + " has shape " + shown_shape(tensor.shape) +
                                            ", the configuration asks for " +
                                            shown_shape(spec.shape)};
}

WeightEntry entry_of(const loader::TensorEntry& tensor, const Shape& shape) {
  WeightEntry entry;
  entry.file_name = tensor.name;
  entry.type = static_cast<DType>(tensor.ggml_type);
  entry.rows = shape.size() == 1 ? 1 : static_cast<int>(shape[0]);
  entry.cols = static_cast<int>(shape.back());
  entry.bytes = tensor.bytes;
  entry.row_stride = row_bytes(entry.type, entry.cols);
  return entry;
}

}  // namespace

Result<std::map<std::string, WeightEntry>> map_weights(const loader::ModelFile& file,
                                                       const ModelConfig& config) {
  const WeightSpecs specs = weight_specs(config);
  std::map<std::string, WeightEntry> weights;
  for (const loader::TensorEntry& tensor : file.tensors) {
    if (is_ignorable(tensor.name)) continue;
    const auto name = canonical_name(file, tensor.name);
    if (name && is_rope_table(*name)) continue;
    const auto spec = name ? specs.find(*name) : specs.end();
    if (spec == specs.end()) {
      return Error{ErrorCode::kModelTensor, "tensor " + quote_bytes(tensor.name) +
                                                " has no place in a " + config.arch + " model of " +
                                                std::to_string(config.num_layers) + " layers"};
    }
    WL_RETURN_IF_ERROR(check_tensor(*name, tensor, spec->second));
    // A tied head is the embedding, whatever copy of it the file carries.
    if (config.is_tied && *name == "output.weight") continue;
    if (!weights.emplace(*name, entry_of(tensor, spec->second.shape)).second) {
      return Error{ErrorCode::kModelTensor,
                   "tensor " + quote_bytes(tensor.name) + " is a second " + *name};
    }
  }
  for (const auto& [name, spec] : specs) {
    if (spec.is_required && !weights.contains(name)) {
      return Error{ErrorCode::kModelTensor, "tensor " + name + " is missing"};
    }
  }
  return weights;
}

}  // namespace wl::models
