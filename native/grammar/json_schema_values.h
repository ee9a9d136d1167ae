#pragma once
// Whether a JSON value validates against a schema: for the values of enum and const, and the names
// of properties, which are filtered rather than generated.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_tree.h"
#include "grammar/json_schema_document.h"

namespace wl::grammar {

/// Equal as JSON Schema has it: 1 and 1.0 are, and the order of members does not matter.
bool is_same_value(const JsonTree& a, const JsonTree& b);

class ValueChecker {
 public:
  explicit ValueChecker(const SchemaDocument& document) : document_(document) {}

  /// Against the node and all that it refers to. `value` must live as long as the checker.
  bool validates(SchemaId id, const JsonTree& value);
  /// Against the node's own keywords, without $ref, allOf, anyOf and oneOf.
  bool validates_own(const SchemaNode& node, const JsonTree& value);
  /// As validates_own(), for a value that is one of the node's const or enum.
  bool validates_own_but_values(const SchemaNode& node, const JsonTree& value);
  bool validates_name(SchemaId id, const std::string& name);

 private:
  bool is_array_valid(const SchemaNode& node, const std::vector<JsonTree>& items);
  bool is_member_valid(const SchemaNode& node, const JsonTreeMember& member);
  bool is_object_valid(const SchemaNode& node, const JsonTree& object);

  const SchemaDocument& document_;
  std::map<std::pair<SchemaId, const JsonTree*>, bool> known_;
  std::map<std::string, JsonTree> names_;  // as values
};

}  // namespace wl::grammar
