#pragma once
// A JSON text as a tree that keeps what JsonValue drops: the order of members and numbers as they
// are written. For texts where both mean something, such as a JSON Schema. As strict as json.h.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace wl {

struct JsonTreeMember;

struct JsonTree {
  enum class Kind : uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;  // of a string its characters, of a number as it is written
  std::vector<JsonTree> items;
  std::vector<JsonTreeMember> members;  // as written, keys unique

  bool is(Kind other) const { return kind == other; }
  bool is_bool() const { return kind == Kind::kFalse || kind == Kind::kTrue; }

  /// Member of an object by key, else nullptr. Takes time linear in the number of members.
  const JsonTree* find(std::string_view key) const;
};

struct JsonTreeMember {
  std::string key;
  JsonTree value;
};

/// Errors: ERR_MODEL_FORMAT, as parse_json().
Result<JsonTree> parse_json_tree(std::string_view text, JsonLimits limits = {});

}  // namespace wl
