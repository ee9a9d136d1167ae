#pragma once
// The metadata section of a GGUF file: typed key-value pairs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "loader/gguf_section.h"
#include "loader/model_file.h"

namespace wl::loader {

/// GGUF value type ids.
enum class GgufType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

/// Reads `count` entries from the cursor on. Integers become int64 (u64 stays uint64), floats
/// double, bools bool; arrays of arrays are checked but not kept.
class GgufMetadataParser : public GgufSection {
 public:
  GgufMetadataParser(ByteReader reader, std::string name) : GgufSection(reader, std::move(name)) {}

  bool parse(uint64_t count);
  std::map<std::string, MetaValue>& metadata() { return metadata_; }
  const ByteReader& reader() const { return reader_; }  // behind the section, once parsed

 private:
  bool parse_value(const std::string& key, uint32_t type, std::optional<MetaValue>* out);
  bool parse_scalar(const std::string& key, GgufType type, MetaValue* out);
  bool parse_array(const std::string& key, int depth, std::optional<MetaValue>* out);
  bool parse_elements(const std::string& key, GgufType type, size_t count, MetaValue* out);
  bool skip_nested_arrays(const std::string& key, int depth, uint64_t count);
  bool read_integer(const std::string& key, GgufType type, int64_t* out);
  bool read_array_integer(const std::string& key, GgufType type, int64_t* out);
  bool read_float(const std::string& key, GgufType type, double* out);
  template <class T>
  bool read_number(const std::string& key, T* out);
  template <class T, class Wide>
  bool read_widened(const std::string& key, Wide* out);

  std::map<std::string, MetaValue> metadata_;
  uint64_t num_elements_ = 0;  // of all arrays so far
};

}  // namespace wl::loader
