#pragma once
// Builds small GGUF files in memory, right or wrong in one place: tests set a field and build.

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "loader/gguf_metadata.h"

namespace wl::test {

using loader::GgufType;

template <class T>
std::string le_bytes(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

inline std::string gguf_string(const std::string& text) {
  return le_bytes<uint64_t>(text.size()) + text;
}

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> dims;  // fast to slow, as in the file
  uint32_t type = 0;
  std::string bytes;
  std::optional<uint64_t> offset;  // instead of the running padded sum
};

struct GgufWriter {
  std::string magic = "GGUF";
  uint32_t version = 3;
  std::optional<uint64_t> num_tensors, num_metadata;  // instead of the real counts
  uint64_t alignment = 32;                            // of the data; the key is added by the test
  std::vector<std::pair<std::string, std::string>> metadata;  // key, type + value bytes
  std::vector<GgufTensor> tensors;

  template <class T>
  void add(const std::string& key, GgufType type, T value) {
    set(key, le_bytes(static_cast<uint32_t>(type)) + le_bytes(value));
  }
  void add_u32(const std::string& key, uint32_t value) { add(key, GgufType::kU32, value); }
  void add_f32(const std::string& key, float value) { add(key, GgufType::kF32, value); }
  void add_text(const std::string& key, const std::string& text) {
    set(key, le_bytes(static_cast<uint32_t>(GgufType::kString)) + gguf_string(text));
  }
  void add_array(const std::string& key, GgufType element, uint64_t count,
                 const std::string& elements) {
    set(key, le_bytes(static_cast<uint32_t>(GgufType::kArray)) +
                 le_bytes(static_cast<uint32_t>(element)) + le_bytes(count) + elements);
  }
  template <class T>
  void add_numbers(const std::string& key, GgufType element, const std::vector<T>& values) {
    std::string elements;
    for (const T value : values) elements += le_bytes(value);
    add_array(key, element, values.size(), elements);
  }
  void add_texts(const std::string& key, const std::vector<std::string>& texts) {
    std::string elements;
    for (const std::string& text : texts) elements += gguf_string(text);
    add_array(key, GgufType::kString, texts.size(), elements);
  }

  /// Replaces the entry of that key, or appends one.
  void set(const std::string& key, const std::string& typed_value) {
    for (auto& entry : metadata) {
      if (entry.first == key) {
        entry.second = typed_value;
        return;
      }
    }
    metadata.emplace_back(key, typed_value);
  }
  void remove(const std::string& key) {
    std::erase_if(metadata, [&](const auto& entry) { return entry.first == key; });
  }
  void remove_tensor(const std::string& name) {
    std::erase_if(tensors, [&](const GgufTensor& tensor) { return tensor.name == name; });
  }
  GgufTensor& tensor(const std::string& name) {
    for (GgufTensor& tensor : tensors) {
      if (tensor.name == name) return tensor;
    }
    return tensors.emplace_back(GgufTensor{name, {}, 0, {}, {}});
  }

  /// An F32 tensor of zeros, dims slow to fast as configurations have them.
  void add_f32_tensor(const std::string& name, std::vector<uint64_t> shape) {
    uint64_t count = 1;
    for (const uint64_t dim : shape) count *= dim;
    tensors.push_back({name, {shape.rbegin(), shape.rend()}, 0, std::string(4 * count, '\0'), {}});
  }

  /// The part in front of the data, padding included.
  std::string build_header() const {
    std::string out = magic + le_bytes(version);
    out += le_bytes(num_tensors.value_or(tensors.size()));
    out += le_bytes(num_metadata.value_or(metadata.size()));
    for (const auto& [key, value] : metadata) out += gguf_string(key) + value;
    uint64_t running = 0;
    for (const GgufTensor& tensor : tensors) {
      out += gguf_string(tensor.name) + le_bytes(static_cast<uint32_t>(tensor.dims.size()));
      for (const uint64_t dim : tensor.dims) out += le_bytes(dim);
      out += le_bytes(tensor.type) + le_bytes(tensor.offset.value_or(running));
      running = padded(running + tensor.bytes.size());
    }
    out.resize(padded(out.size()));
    return out;
  }

  std::string build() const {
    std::string out = build_header();
    for (const GgufTensor& tensor : tensors) {
      out += tensor.bytes;
      out.resize(padded(out.size()));
    }
    return out;
  }

 private:
  uint64_t padded(uint64_t n) const { return (n + alignment - 1) / alignment * alignment; }
};

}  // namespace wl::test
