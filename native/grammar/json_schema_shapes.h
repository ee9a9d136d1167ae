#pragma once
// What several schema nodes together ask of a value of each type. Only the nodes' own keywords
// count: $ref, allOf, anyOf and oneOf have been followed before (json_schema_branches.h).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/char_dfa.h"
#include "grammar/json_schema_document.h"
#include "grammar/json_schema_values.h"
#include "grammar/number_dfa.h"

namespace wl::grammar {

/// Schemas that hold together, each once. Empty: any value.
using Conjunction = std::vector<SchemaId>;

void add_once(SchemaId id, Conjunction* conjunction);

struct NumberShape {
  NumberRange range;
  uint32_t divisor = 1;  // only its multiples, which are integers
};

struct StringShape {
  UnitBounds length;
  std::vector<SchemaPattern> patterns;
  std::vector<const StringFormat*> formats;
};

struct ArrayShape {
  std::vector<Conjunction> prefix;
  Conjunction rest;  // of the items behind the prefix
  UnitBounds count;
  bool has_unique_items = false;

  const Conjunction& item(size_t index) const {
    return index < prefix.size() ? prefix[index] : rest;
  }
};

struct ObjectMember {
  std::string key;
  Conjunction value;
  bool is_required = false;
};

/// Members whose keys are declared nowhere but match exactly these patterns.
struct ExtraMembers {
  std::vector<SchemaPattern> matching, others;
  Conjunction value;
};

struct ObjectShape {
  std::vector<ObjectMember> members;  // declared or required; without those that must not be there
  std::vector<std::string> declared_keys;  // those too
  std::vector<ExtraMembers> extras;
  Conjunction names;  // of extras
  UnitBounds count;
};

class SchemaShapes {
 public:
  explicit SchemaShapes(const SchemaDocument& document) : document_(document), checker_(document) {}

  TypeSet types(const Conjunction& nodes) const;
  /// The values that are left of const and enum; nullopt: any.
  std::optional<std::vector<const JsonTree*>> values(const Conjunction& nodes);
  NumberShape number(const Conjunction& nodes) const;
  StringShape string(const Conjunction& nodes) const;
  ArrayShape array(const Conjunction& nodes) const;
  /// Errors: ERR_GRAMMAR, more patterns than can be told apart.
  Result<ObjectShape> object(const Conjunction& nodes);

 private:
  bool has_false(const Conjunction& nodes) const;
  bool is_name_allowed(const Conjunction& nodes, const std::string& key);
  bool is_listed(const Conjunction& nodes) const;
  Result<std::vector<ExtraMembers>> extras(const Conjunction& nodes) const;

  const SchemaDocument& document_;
  ValueChecker checker_;
};

}  // namespace wl::grammar
