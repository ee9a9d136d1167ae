#pragma once
// A JSON Schema read into nodes: one for each subschema that can be reached, with its own keywords
// checked and its subschemas by id (json_schema_reader). What several nodes mean together is for
// others.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/byte_dfa.h"
#include "grammar/char_dfa.h"
#include "grammar/number_dfa.h"
#include "grammar/string_format.h"

namespace wl::grammar {

using SchemaId = int32_t;

/// Types of values, as bits; a number is an integer or not.
using TypeSet = uint8_t;
constexpr TypeSet kNullType = 1, kBooleanType = 2, kIntegerType = 4, kFractionType = 8,
                  kStringType = 16, kArrayType = 32, kObjectType = 64;
constexpr TypeSet kNumberType = kIntegerType | kFractionType;
constexpr TypeSet kAllTypes = 127;

struct NumberBound {
  Decimal value;
  bool is_exclusive = false;
};

struct SchemaPattern {
  std::string text;
  std::shared_ptr<const CharDfa> strings;  // that match somewhere; one for each text
};

/// anyOf or oneOf.
struct SchemaOptions {
  std::vector<SchemaId> options;
  bool is_exclusive = false;  // exactly one holds
};

/// The keywords of one subschema. All of them hold together.
struct SchemaNode {
  std::string pointer;  // of the subschema in the document
  bool is_false = false;
  TypeSet types = kAllTypes;
  std::optional<std::vector<const JsonTree*>> values;  // const, enum
  std::vector<SchemaId> all_of;                        // $ref too
  std::vector<SchemaOptions> alternatives;

  UnitBounds length;
  std::optional<SchemaPattern> pattern;
  const StringFormat* format = nullptr;

  std::optional<NumberBound> min, max;
  std::optional<uint32_t> multiple_of;

  std::vector<SchemaId> prefix_items;
  std::optional<SchemaId> items;  // behind the prefix
  UnitBounds num_items;
  bool has_unique_items = false;

  std::vector<std::pair<std::string, SchemaId>> properties;  // as given
  std::map<std::string, SchemaId, std::less<>> property_index;
  bool lists_properties = false;  // has `properties`, be it empty
  std::vector<std::string> required;
  std::vector<std::pair<SchemaPattern, SchemaId>> pattern_properties;
  std::optional<SchemaId> additional_properties;
  std::optional<SchemaId> property_names;
  UnitBounds num_properties;
};

class SchemaDocument {
 public:
  /// Reads everything that can be reached from the root, which has id 0. `root` must outlive the
  /// document. Errors: ERR_GRAMMAR as json_schema_expr().
  static Result<std::unique_ptr<SchemaDocument>> read(const JsonTree& root, std::string name);

  const SchemaNode& node(SchemaId id) const { return nodes_[static_cast<size_t>(id)]; }
  size_t num_nodes() const { return nodes_.size(); }
  /// A node of our own: an object does not have the property.
  SchemaId absent(const std::string& key);
  /// An error at a place in the schema.
  Error error_at(std::string_view pointer, const std::string& what) const;

 private:
  friend class SchemaReader;
  explicit SchemaDocument(std::string name) : name_(std::move(name)) {}
  std::string name_;
  std::deque<SchemaNode> nodes_;                         // which stay where they are
  std::map<std::string, SchemaId, std::less<>> absent_;  // by key
};

/// The schemas that the node has for the value of a property: by name, by pattern, or for the rest.
std::vector<SchemaId> schemas_of_property(const SchemaNode& node, const std::string& key);

}  // namespace wl::grammar
