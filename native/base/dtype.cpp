#include "base/dtype.h"

#include <algorithm>
#include <iterator>

namespace wl {

namespace {

struct TypeRow {
  uint32_t id;
  DTypeTraits traits;
};

// GGUF's type table (specification version 3). Q8_1 and Q8_K exist at run time only; the others
// without support are refused by name.
constexpr TypeRow kTypes[] = {
    {0, {"F32", 1, 4, true}},
    {1, {"F16", 1, 2, true}},
    {2, {"Q4_0", 32, 18, true}},
    {3, {"Q4_1", 32, 20, true}},
    {6, {"Q5_0", 32, 22, true}},
    {7, {"Q5_1", 32, 24, true}},
    {8, {"Q8_0", 32, 34, true}},
    {9, {"Q8_1", 32, 36, false}},
    {10, {"Q2_K", 256, 84, true}},
    {11, {"Q3_K", 256, 110, true}},
    {12, {"Q4_K", 256, 144, true}},
    {13, {"Q5_K", 256, 176, true}},
    {14, {"Q6_K", 256, 210, true}},
    {15, {"Q8_K", 256, 292, false}},
    {16, {"IQ2_XXS", 256, 66, false}},
    {17, {"IQ2_XS", 256, 74, false}},
    {18, {"IQ3_XXS", 256, 98, false}},
    {19, {"IQ1_S", 256, 50, false}},
    {20, {"IQ4_NL", 32, 18, true}},
    {21, {"IQ3_S", 256, 110, false}},
    {22, {"IQ2_S", 256, 82, false}},
    {23, {"IQ4_XS", 256, 136, true}},
    {24, {"I8", 1, 1, false}},
    {25, {"I16", 1, 2, false}},
    {26, {"I32", 1, 4, false}},
    {27, {"I64", 1, 8, false}},
    {28, {"F64", 1, 8, false}},
    {29, {"IQ1_M", 256, 56, false}},
    {30, {"BF16", 1, 2, true}},
    {34, {"TQ1_0", 256, 54, false}},
    {35, {"TQ2_0", 256, 66, false}},
    {39, {"MXFP4", 32, 17, true}},
    {40, {"NVFP4", 64, 36, false}},
    {41, {"Q1_0", 128, 18, false}},
    {42, {"Q2_0", 64, 18, false}},
    {kSafetensorsOnly + 0, {"BOOL", 1, 1, false}},
    {kSafetensorsOnly + 1, {"U8", 1, 1, false}},
    {kSafetensorsOnly + 2, {"U16", 1, 2, false}},
    {kSafetensorsOnly + 3, {"U32", 1, 4, false}},
    {kSafetensorsOnly + 4, {"U64", 1, 8, false}},
    {kSafetensorsOnly + 5, {"F8_E4M3", 1, 1, false}},
    {kSafetensorsOnly + 6, {"F8_E5M2", 1, 1, false}},
    {kSafetensorsOnly + 7, {"F8_E8M0", 1, 1, false}},
};

// Ids that once were types (Q4_2, Q4_3 and the repacked Q4_0_n_m, IQ4_NL_n_m).
constexpr uint32_t kRemovedIds[] = {4, 5, 31, 32, 33, 36, 37, 38};

}  // namespace

std::optional<DTypeTraits> dtype_traits(uint32_t ggml_type) {
  const auto row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                [&](const TypeRow& r) { return r.id == ggml_type; });
  if (row == std::end(kTypes)) return std::nullopt;
  return row->traits;
}

std::optional<uint32_t> dtype_from_safetensors(const std::string& name) {
  for (const TypeRow& row : kTypes) {
    if (row.traits.block_elems == 1 && name == row.traits.name) return row.id;
  }
  return std::nullopt;
}

std::string dtype_name(uint32_t ggml_type) {
  if (const auto traits = dtype_traits(ggml_type)) return traits->name;
  const bool is_removed =
      std::find(std::begin(kRemovedIds), std::end(kRemovedIds), ggml_type) != std::end(kRemovedIds);
  return (is_removed ? "removed type " : "unknown type ") + std::to_string(ggml_type);
}

}  // namespace wl
