#include "models/supported_types.h"

#include <algorithm>
#include <vector>

#include "base/dtype.h"

namespace wl::models {

namespace {

double bits_per_weight(const DTypeTraits& traits) {
  return 8.0 * traits.block_bytes / traits.block_elems;
}

/// What a checkpoint may use instead, fewest bits first.
std::vector<DTypeTraits> candidates(loader::Container container, int64_t row_elems) {
  std::vector<DType> types = {DType::kBF16, DType::kF16, DType::kF32};
  if (container == loader::Container::kGguf) {
    types = {DType::kQ2_K, DType::kQ3_K, DType::kIQ4_XS, DType::kQ4_K, DType::kIQ4_NL,
             DType::kQ4_0, DType::kQ4_1, DType::kQ5_K,   DType::kQ5_0, DType::kQ5_1,
             DType::kQ6_K, DType::kQ8_0, DType::kBF16,   DType::kF16,  DType::kF32};
  }
  std::vector<DTypeTraits> out;
  for (const DType type : types) {
    if (row_elems % dtype_traits(type).block_elems == 0) out.push_back(dtype_traits(type));
  }
  return out;
}

/// The two smallest that lose nothing, the larger first; the largest of all when none is that
/// large.
std::string nearest_supported(const std::vector<DTypeTraits>& candidates, double bits) {
  const auto first =
      std::find_if(candidates.begin(), candidates.end(),
                   [&](const DTypeTraits& traits) { return bits_per_weight(traits) >= bits; });
  if (first == candidates.end()) return candidates.back().name;
  const auto second = first + 1;
  if (second == candidates.end()) return first->name;
  return std::string(second->name) + " or " + first->name;
}

}  // namespace

std::optional<Error> type_problem(loader::Container container, const loader::TensorEntry& tensor) {
  const auto traits = dtype_traits(tensor.ggml_type);
  if (traits && traits->is_supported) return std::nullopt;
  std::string message =
      escape_bytes(tensor.name) + " is " + dtype_name(tensor.ggml_type) + ", not supported";
  if (traits) {
    message += "; use " + nearest_supported(candidates(container, tensor.shape.back()),
                                            bits_per_weight(*traits));
  }
  return Error{ErrorCode::kModelType, message};
}

}  // namespace wl::models
