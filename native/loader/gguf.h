#pragma once
// The GGUF container, versions 2 and 3: one file's metadata and tensor table over bytes in memory.
// Source: GGUF specification, version 3. Every count, length, offset and type is checked before
// use; memory grows with the bytes that are really there, never with a count that the file claims.
// Knows no architecture; gguf_split.h joins the files of a split model.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "loader/model_file.h"

namespace wl::loader {

struct GgufContents {
  std::map<std::string, MetaValue> metadata;
  std::vector<TensorEntry> tensors;  // `bytes` point into the input
};

/// True when the bytes begin with "GGUF".
bool has_gguf_magic(std::span<const uint8_t> bytes);

/// Parses one file. `name` is how messages call it.
/// Errors: ERR_MODEL_FILE (not GGUF, big-endian, version), ERR_MODEL_FORMAT (damaged),
/// ERR_MODEL_TYPE (a tensor type that no longer exists or that nobody knows).
Result<GgufContents> parse_gguf(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace wl::loader
