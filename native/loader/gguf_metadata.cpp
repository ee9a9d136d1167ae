#include "loader/gguf_metadata.h"

#include <limits>
#include <set>

#include "base/utf8.h"

namespace wl::loader {

namespace {

// Far above any real file; it bounds memory at 32 bytes an element.
constexpr uint64_t kMaxArrayElements = 1 << 22;  // of all arrays together
constexpr uint64_t kMaxKeyBytes = 65535;         // the specification's limit
constexpr int kMaxArrayDepth = 4;

/// Smallest bytes of one value in the file, or nullopt for an unknown type.
std::optional<uint64_t> min_value_bytes(uint32_t type) {
  switch (static_cast<GgufType>(type)) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
    case GgufType::kString:
      return 8;
    case GgufType::kArray:
      return 12;
  }
  return std::nullopt;
}

}  // namespace

bool is_readable_name(const std::string& text) {
  return !text.empty() && text.find('\0') == std::string::npos && is_valid_utf8(text);
}

bool GgufMetadataParser::parse(uint64_t count) {
  std::set<std::string> seen;
  // A value of another type than it says throws off what follows, so messages name the one before.
  std::string behind = "in front";
  for (uint64_t i = 0; i < count; ++i) {
    std::string key;
    uint32_t type = 0;
    if (!reader_.read_string(&key)) return fail_short("the metadata key " + behind);
    if (!is_readable_name(key) || key.size() > kMaxKeyBytes) {
      return fail_format("has an empty or unreadable metadata key " + quote_bytes(key) + " " +
                         behind);
    }
    if (!reader_.read(&type)) return fail_short("type of " + quote_bytes(key));
    if (!seen.insert(key).second) {
      return fail_format("has the metadata key " + quote_bytes(key) + " twice");
    }
    std::optional<MetaValue> value;
    if (!parse_value(key, type, &value)) return false;
    if (value) metadata_.emplace(key, std::move(*value));
    behind = "behind " + quote_bytes(key);
  }
  return true;
}

bool GgufMetadataParser::parse_value(const std::string& key, uint32_t type,
                                     std::optional<MetaValue>* out) {
  const auto min_bytes = min_value_bytes(type);
  if (!min_bytes) {
    return fail_format("metadata " + quote_bytes(key) + " has unknown value type " +
                       std::to_string(type));
  }
  if (static_cast<GgufType>(type) == GgufType::kArray) return parse_array(key, 0, out);
  MetaValue value;
  value.element_type = type;
  if (!parse_scalar(key, static_cast<GgufType>(type), &value)) return false;
  *out = std::move(value);
  return true;
}

template <class T>
bool GgufMetadataParser::read_number(const std::string& key, T* out) {
  return reader_.read(out) || fail_short("the value of " + quote_bytes(key));
}

template <class T, class Wide>
bool GgufMetadataParser::read_widened(const std::string& key, Wide* out) {
  T value{};
  if (!read_number(key, &value)) return false;
  *out = static_cast<Wide>(value);
  return true;
}

/// Any integer type but u64, bool included, into int64.
bool GgufMetadataParser::read_integer(const std::string& key, GgufType type, int64_t* out) {
  switch (type) {
    case GgufType::kU8:
      return read_widened<uint8_t>(key, out);
    case GgufType::kI8:
      return read_widened<int8_t>(key, out);
    case GgufType::kU16:
      return read_widened<uint16_t>(key, out);
    case GgufType::kI16:
      return read_widened<int16_t>(key, out);
    case GgufType::kU32:
      return read_widened<uint32_t>(key, out);
    case GgufType::kI32:
      return read_widened<int32_t>(key, out);
    case GgufType::kI64:
      return read_widened<int64_t>(key, out);
    case GgufType::kBool:
      if (!read_widened<uint8_t>(key, out)) return false;
      return (*out >= 0 && *out <= 1) || fail_format("metadata " + quote_bytes(key) +
                                                     " is a bool of value " + std::to_string(*out));
    default:
      throw InternalError("read_integer: not an integer type");
  }
}

bool GgufMetadataParser::parse_scalar(const std::string& key, GgufType type, MetaValue* out) {
  switch (type) {
    case GgufType::kString: {
      std::string text;
      if (!reader_.read_string(&text)) return fail_short("the text of " + quote_bytes(key));
      out->v = std::move(text);
      return true;
    }
    case GgufType::kF32:
    case GgufType::kF64: {
      double number = 0;
      if (!read_float(key, type, &number)) return false;
      out->v = number;
      return true;
    }
    case GgufType::kU64: {
      uint64_t number = 0;
      if (!read_number(key, &number)) return false;
      out->v = number;
      return true;
    }
    default: {
      int64_t number = 0;
      if (!read_integer(key, type, &number)) return false;
      if (type == GgufType::kBool) {
        out->v = number != 0;
      } else {
        out->v = number;
      }
      return true;
    }
  }
}

bool GgufMetadataParser::read_float(const std::string& key, GgufType type, double* out) {
  return type == GgufType::kF32 ? read_widened<float>(key, out) : read_widened<double>(key, out);
}

bool GgufMetadataParser::parse_array(const std::string& key, int depth,
                                     std::optional<MetaValue>* out) {
  uint32_t type = 0;
  uint64_t count = 0;
  if (!reader_.read(&type) || !reader_.read(&count)) return fail_short("array " + quote_bytes(key));
  const auto min_bytes = min_value_bytes(type);
  if (!min_bytes) {
    return fail_format("array " + quote_bytes(key) + " has unknown element type " +
                       std::to_string(type));
  }
  if (count > reader_.remaining() / *min_bytes) {
    return fail_short("array " + quote_bytes(key) + " of " + std::to_string(count) + " elements");
  }
  num_elements_ += count;
  if (num_elements_ > kMaxArrayElements) {
    return fail_format("has more than " + std::to_string(kMaxArrayElements) +
                       " array elements of metadata, at " + quote_bytes(key));
  }
  const auto element = static_cast<GgufType>(type);
  if (element == GgufType::kArray) return skip_nested_arrays(key, depth, count);
  MetaValue value;
  value.element_type = type;
  if (!parse_elements(key, element, static_cast<size_t>(count), &value)) return false;
  *out = std::move(value);
  return true;
}

bool GgufMetadataParser::skip_nested_arrays(const std::string& key, int depth, uint64_t count) {
  if (depth + 1 >= kMaxArrayDepth)
    return fail_format("array " + quote_bytes(key) + " nests too deep");
  for (uint64_t i = 0; i < count; ++i) {
    std::optional<MetaValue> ignored;
    if (!parse_array(key, depth + 1, &ignored)) return false;
  }
  return true;
}

bool GgufMetadataParser::parse_elements(const std::string& key, GgufType type, size_t count,
                                        MetaValue* out) {
  if (type == GgufType::kString) {
    MetaArrayS texts(count);
    for (std::string& text : texts) {
      if (!reader_.read_string(&text)) return fail_short("a string of array " + quote_bytes(key));
    }
    out->v = std::move(texts);
  } else if (type == GgufType::kF32 || type == GgufType::kF64) {
    MetaArrayF numbers(count);
    for (double& number : numbers) {
      if (!read_float(key, type, &number)) return false;
    }
    out->v = std::move(numbers);
  } else {
    MetaArrayI numbers(count);
    for (int64_t& number : numbers) {
      if (!read_array_integer(key, type, &number)) return false;
    }
    out->v = std::move(numbers);
  }
  return true;
}

bool GgufMetadataParser::read_array_integer(const std::string& key, GgufType type, int64_t* out) {
  if (type != GgufType::kU64) return read_integer(key, type, out);
  uint64_t number = 0;
  if (!read_number(key, &number)) return false;
  if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return fail_format("array " + quote_bytes(key) + " has an element above 2^63 - 1");
  }
  *out = static_cast<int64_t>(number);
  return true;
}

}  // namespace wl::loader
