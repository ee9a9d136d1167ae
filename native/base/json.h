#pragma once
// A small strict JSON reader (RFC 8259) for the JSON that model folders hold: safetensors headers,
// shard indices, config.json. Not a general library: it reads, it does not write, and it refuses
// what those files must not have: duplicate keys, comments, trailing commas, NaN, invalid UTF-8,
// lone surrogates, bytes after the value. Depth and node count are bounded, so a hostile file costs
// bounded memory and stack.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace wl {

class JsonValue;
using JsonArray = std::vector<JsonValue>;
using JsonMember = std::pair<std::string, JsonValue>;
using JsonObject = std::vector<JsonMember>;  // sorted by key, keys unique

/// One value. Integers without fraction or exponent that fit int64 stay exact. The `as_x` readers
/// answer nullopt or nullptr when the value is of another kind.
class JsonValue {
 public:
  JsonValue() = default;
  explicit JsonValue(bool value) : v_(value) {}
  explicit JsonValue(int64_t value) : v_(value) {}
  explicit JsonValue(double value) : v_(value) {}
  explicit JsonValue(std::string value) : v_(std::move(value)) {}
  explicit JsonValue(JsonArray value) : v_(std::move(value)) {}
  explicit JsonValue(JsonObject value) : v_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(v_); }
  std::optional<bool> as_bool() const;
  std::optional<int64_t> as_int() const;
  std::optional<double> as_number() const;  // integers too
  const std::string* as_string() const { return std::get_if<std::string>(&v_); }
  const JsonArray* as_array() const { return std::get_if<JsonArray>(&v_); }
  const JsonObject* as_object() const { return std::get_if<JsonObject>(&v_); }

  /// Member of an object by key, else nullptr (also when this is no object).
  const JsonValue* find(std::string_view key) const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, JsonArray, JsonObject> v_;
};

struct JsonLimits {
  int max_depth = 64;          // nested arrays and objects; each level is one stack frame
  size_t max_nodes = 1 << 20;  // values of all kinds: about 64 MiB in memory
};

/// Parses one JSON text. The error says what is wrong at which byte, with ERR_MODEL_FORMAT.
Result<JsonValue> parse_json(std::string_view text, JsonLimits limits = {});

}  // namespace wl
