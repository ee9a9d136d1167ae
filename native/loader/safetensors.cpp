#include "loader/safetensors.h"

#include <algorithm>
#include <string_view>

#include "base/json.h"
#include "loader/byte_reader.h"
#include "loader/not_a_model.h"
#include "loader/tensor_shape.h"

namespace wl::loader {

namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference implementation's limit
constexpr size_t kMaxDims = 8;

struct PlacedTensor {
  TensorEntry entry;
  int64_t begin = 0, end = 0;  // in the data buffer
};

class SafetensorsParser {
 public:
  SafetensorsParser(std::span<const uint8_t> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {}

  Result<std::vector<TensorEntry>> parse() {
    std::string_view header;
    WL_RETURN_IF_ERROR(find_header(&header));
    auto json = parse_json(header);
    if (!json.ok()) return format_error("header: " + json.error().message);
    std::vector<PlacedTensor> tensors;
    WL_RETURN_IF_ERROR(read_table(json.value(), &tensors));
    return place(std::move(tensors));
  }

 private:
  Error format_error(const std::string& what) const {
    return {ErrorCode::kModelFormat, name_ + ": " + what};
  }
  std::string file_size() const { return std::to_string(bytes_.size()) + " bytes"; }

  Status find_header(std::string_view* header) {
    if (const auto known = describe_non_model(bytes_)) {
      return Error{ErrorCode::kModelFile, name_ + ": " + *known};
    }
    ByteReader reader(bytes_);
    uint64_t length = 0;
    if (!reader.read(&length)) {
      return format_error("is truncated: " + file_size() + " hold no safetensors header");
    }
    if (length < 2 || length > kMaxHeaderBytes) {
      return Error{ErrorCode::kModelFile, name_ + ": is not a safetensors file: it begins with " +
                                              quote_first_bytes(bytes_)};
    }
    if (length > reader.remaining()) {
      return format_error("is truncated: its header needs " + std::to_string(8 + length) +
                          " bytes, the file has " + file_size());
    }
    const char* text = reinterpret_cast<const char*>(bytes_.data()) + reader.position();
    *header = {text, static_cast<size_t>(length)};
    data_ = bytes_.subspan(reader.position() + static_cast<size_t>(length));
    if (header->front() != '{') return format_error("header does not begin with '{'");
    return {};
  }

  Status read_table(const JsonValue& header, std::vector<PlacedTensor>* out) {
    const JsonObject* members = header.as_object();
    if (members == nullptr) return format_error("header is no JSON object");
    for (const auto& [key, value] : *members) {
      if (key == "__metadata__") {
        WL_RETURN_IF_ERROR(check_metadata(value));
        continue;
      }
      PlacedTensor tensor;
      tensor.entry.name = key;
      WL_RETURN_IF_ERROR(read_tensor(value, &tensor));
      out->push_back(std::move(tensor));
    }
    return {};
  }

  Status check_metadata(const JsonValue& value) {
    const JsonObject* members = value.as_object();
    if (members == nullptr) return format_error("__metadata__ is no JSON object");
    for (const auto& [key, text] : *members) {
      if (text.as_string() == nullptr) {
        return format_error("__metadata__ " + quote_bytes(key) + " is no string");
      }
    }
    return {};
  }

  Status read_tensor(const JsonValue& value, PlacedTensor* tensor) {
    TensorEntry& entry = tensor->entry;
    const std::string subject = "tensor " + quote_bytes(entry.name);
    if (entry.name.empty()) return format_error("has a tensor without a name");
    const JsonObject* members = value.as_object();
    const JsonValue* dtype = value.find("dtype");
    if (members == nullptr || members->size() != 3 || dtype == nullptr ||
        dtype->as_string() == nullptr) {
      return format_error(subject + " is not described by dtype, shape and data_offsets");
    }
    const auto type = dtype_from_safetensors(*dtype->as_string());
    if (!type) {
      return Error{ErrorCode::kModelType, name_ + ": " + subject + " has dtype " +
                                              escape_bytes(*dtype->as_string()) +
                                              ", which is not supported"};
    }
    entry.ggml_type = *type;
    WL_RETURN_IF_ERROR(read_shape(value.find("shape"), subject, &entry));
    return read_range(value.find("data_offsets"), subject, tensor);
  }

  Status read_shape(const JsonValue* value, const std::string& subject, TensorEntry* entry) {
    const JsonArray* dims = value != nullptr ? value->as_array() : nullptr;
    if (dims == nullptr || dims->size() > kMaxDims) {
      return format_error(subject + " has no shape of at most " + std::to_string(kMaxDims) +
                          " dimensions");
    }
    for (const JsonValue& dim : *dims) entry->shape.push_back(dim.as_int().value_or(-1));
    if (dims->empty()) entry->shape.push_back(1);  // a scalar
    const auto num_elements = checked_num_elements(entry->shape);
    if (!num_elements) return format_error(subject + " has an impossible shape");
    const auto element_bytes = static_cast<uint64_t>(dtype_traits(entry->ggml_type)->block_bytes);
    if (static_cast<uint64_t>(*num_elements) > data_.size() / element_bytes) {
      return format_error("is truncated or damaged: " + subject + " is larger than the file's " +
                          file_size());
    }
    entry->num_bytes = static_cast<size_t>(static_cast<uint64_t>(*num_elements) * element_bytes);
    return {};
  }

  Status read_range(const JsonValue* value, const std::string& subject, PlacedTensor* tensor) {
    const JsonArray* range = value != nullptr ? value->as_array() : nullptr;
    if (range == nullptr || range->size() != 2) {
      return format_error(subject + " has no data_offsets [begin, end]");
    }
    tensor->begin = (*range)[0].as_int().value_or(-1);
    tensor->end = (*range)[1].as_int().value_or(-1);
    if (tensor->begin < 0 || tensor->end < tensor->begin) {
      return format_error(subject + " has impossible data_offsets");
    }
    if (static_cast<uint64_t>(tensor->end - tensor->begin) != tensor->entry.num_bytes) {
      return format_error(subject + " spans " + std::to_string(tensor->end - tensor->begin) +
                          " bytes, its shape needs " + std::to_string(tensor->entry.num_bytes));
    }
    return {};
  }

  /// Checks that the ranges tile the data buffer exactly and points every tensor at its bytes.
  Result<std::vector<TensorEntry>> place(std::vector<PlacedTensor> tensors) {
    std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    int64_t running = 0;
    for (const PlacedTensor& tensor : tensors) {
      if (tensor.begin != running) {
        return format_error("tensor " + quote_bytes(tensor.entry.name) + " begins at data offset " +
                            std::to_string(tensor.begin) + ", expected " + std::to_string(running) +
                            ": the ranges overlap or leave a hole");
      }
      running = tensor.end;
    }
    const auto needed = static_cast<uint64_t>(running);
    if (needed > data_.size()) {
      return format_error("is truncated: its tensors need " + std::to_string(needed) +
                          " bytes of data, the file has " + std::to_string(data_.size()) +
                          " bytes behind the header");
    }
    if (needed < data_.size()) {
      return format_error("has " + std::to_string(data_.size() - needed) +
                          " extra bytes behind the last tensor: damaged or badly joined");
    }
    std::vector<TensorEntry> entries;
    entries.reserve(tensors.size());
    for (PlacedTensor& tensor : tensors) {
      tensor.entry.bytes = data_.data() + tensor.begin;
      entries.push_back(std::move(tensor.entry));
    }
    return entries;
  }

  std::span<const uint8_t> bytes_;
  std::string name_;
  std::span<const uint8_t> data_;  // behind the header
};

}  // namespace

Result<std::vector<TensorEntry>> parse_safetensors(std::span<const uint8_t> bytes,
                                                   const std::string& name) {
  return SafetensorsParser(bytes, name).parse();
}

}  // namespace wl::loader
