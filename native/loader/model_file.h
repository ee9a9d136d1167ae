#pragma once
// What a checkpoint holds, whatever its container: named tensors over mapped bytes and a tree of
// metadata. GGUF files and safetensors folders both become a ModelFile. Knows no architecture and
// copies no weights. Every length is checked against the file before it is used; nothing here can
// be made to read outside the mapping (test/native/loader, fuzzed in test/unit/models). Thread-safe
// for reading once opened.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace wl::loader {

/// One tensor. Shape is slow to fast, as in `[out, in]`; GGUF's ne order is reversed on reading.
struct TensorEntry {
  std::string name;            // as in the file
  uint32_t ggml_type = 0;      // raw id: may be a type that is not supported
  std::vector<int64_t> shape;  // at least one dim, each >= 0 (0: an empty tensor)
  const uint8_t* bytes = nullptr;
  size_t num_bytes = 0;
  int64_t num_elements() const;
};

/// A metadata value: GGUF scalars and arrays; safetensors configs use the same variants.
struct MetaValue;
using MetaArrayI = std::vector<int64_t>;
using MetaArrayF = std::vector<double>;
using MetaArrayS = std::vector<std::string>;
struct MetaValue {
  std::variant<bool, int64_t, uint64_t, double, std::string, MetaArrayI, MetaArrayF, MetaArrayS> v;
  uint32_t element_type = 0;  // GGUF value type id of the scalar or of the array's elements
};

enum class Container { kGguf, kSafetensors };

class MappedFile;  // loader/mmap_file.h

struct ModelFile {
  Container container = Container::kGguf;
  std::string path;                           // the file, or the folder
  std::map<std::string, MetaValue> metadata;  // GGUF keys; safetensors: empty
  std::string config_json;                    // safetensors: text of config.json, else empty
  std::vector<TensorEntry> tensors;           // in file order
  std::vector<std::shared_ptr<const MappedFile>> mappings;  // keep `bytes` alive
  size_t total_bytes = 0;                                   // bytes of all mapped files
};

/// Opens a .gguf file (any shard count) or a safetensors folder (config.json beside *.safetensors).
/// Errors: ERR_MODEL_FILE, ERR_MODEL_FORMAT with the facts; names an LFS pointer, an HTML page, an
/// empty or truncated file for what it is.
Result<ModelFile> open_model_file(const std::string& path);

}  // namespace wl::loader
