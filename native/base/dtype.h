#pragma once
// Element types of tensors in model files. Ids are GGUF's (ggml_type), also used for safetensors;
// types that only safetensors has (U8, F8_E4M3, ...) get ids from kSafetensorsOnly on.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace wl {

enum class DType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ4_NL = 20,
  kIQ4_XS = 23,
  kI8 = 24,
  kI16 = 25,
  kI32 = 26,
  kI64 = 27,
  kF64 = 28,
  kBF16 = 30,
  kMXFP4 = 39,
};

/// First id that no GGUF file may hold.
constexpr uint32_t kSafetensorsOnly = 0x10000;

struct DTypeTraits {
  const char* name;   // "Q4_K"
  int block_elems;    // elements a block
  int block_bytes;    // bytes a block
  bool is_supported;  // this build can dequantise and multiply it
};

/// Traits of a type, or nullopt for an id that no table of ours knows.
std::optional<DTypeTraits> dtype_traits(uint32_t ggml_type);
inline DTypeTraits dtype_traits(DType type) { return *dtype_traits(static_cast<uint32_t>(type)); }

/// Id of a safetensors dtype ("BF16", "F8_E4M3"), or nullopt for one that no table of ours knows.
std::optional<uint32_t> dtype_from_safetensors(const std::string& name);

/// Name for a message: "IQ3_XXS", "removed type 4", "unknown type 77".
std::string dtype_name(uint32_t ggml_type);

/// Bytes of one row of `cols` elements; cols must be a multiple of block_elems.
inline size_t row_bytes(DType type, int64_t cols) {
  const DTypeTraits t = dtype_traits(type);
  return static_cast<size_t>(cols / t.block_elems) * static_cast<size_t>(t.block_bytes);
}

}  // namespace wl
