#include "grammar/json_schema_reader.h"

#include <algorithm>
#include <utility>

#include "grammar/json_pointer.h"

namespace wl::grammar {
namespace {

using Kind = JsonTree::Kind;

constexpr size_t kMaxNodes = 100'000;  // subschemas

std::optional<TypeSet> type_named(std::string_view name) {
  if (name == "null") return kNullType;
  if (name == "boolean") return kBooleanType;
  if (name == "integer") return kIntegerType;
  if (name == "number") return kNumberType;
  if (name == "string") return kStringType;
  if (name == "array") return kArrayType;
  if (name == "object") return kObjectType;
  return std::nullopt;
}

bool is_empty_object(const JsonTree& tree) {
  return tree.is(Kind::kObject) && tree.members.empty();
}

bool is_true_schema(const JsonTree& tree) { return tree.is(Kind::kTrue) || is_empty_object(tree); }

/// In front of a property of this name stands a schema, not a string.
bool has_id(const JsonTree& tree) {
  const JsonTree* id = tree.is(Kind::kObject) ? tree.find("$id") : nullptr;
  return id != nullptr && id->is(Kind::kString);
}

}  // namespace

Status SchemaReader::run() {
  id_of(root_, "");
  for (size_t i = 0; i < trees_.size(); ++i) {
    if (trees_.size() > kMaxNodes) return document_.error_at("", "has too many subschemas");
    node_ = &document_.nodes_[i];
    WL_RETURN_IF_ERROR(read_node(*trees_[i]));
  }
  return {};
}

SchemaId SchemaReader::id_of(const JsonTree& tree, std::string pointer) {
  const auto [found, is_new] = ids_.try_emplace(&tree, static_cast<SchemaId>(trees_.size()));
  if (is_new) {
    trees_.push_back(&tree);
    document_.nodes_.emplace_back().pointer = std::move(pointer);
  }
  return found->second;
}

SchemaId SchemaReader::child(const JsonTree& tree, std::string_view keyword) {
  return id_of(tree, pointer_to(node_->pointer, keyword));
}

Error SchemaReader::error(std::string_view keyword, const std::string& what) const {
  return document_.error_at(node_->pointer, std::string(keyword) + " " + what);
}

Status SchemaReader::read_node(const JsonTree& tree) {
  if (tree.is_bool()) {
    node_->is_false = tree.is(Kind::kFalse);
    return {};
  }
  if (!tree.is(Kind::kObject)) {
    return document_.error_at(node_->pointer, "a schema must be an object or a boolean");
  }
  tree_ = &tree;
  for (const JsonTreeMember& member : tree.members) {
    const auto keyword =
        std::find_if(kKeywords.begin(), kKeywords.end(),
                     [&](const Keyword& known) { return known.name == member.key; });
    if (keyword == kKeywords.end()) continue;  // an annotation, or unknown to JSON Schema
    WL_RETURN_IF_ERROR((this->*keyword->read)(keyword->name, member.value));
  }
  return {};
}

// ---- Any type ----

Status SchemaReader::read_type(std::string_view keyword, const JsonTree& value) {
  const bool is_list = value.is(Kind::kArray);
  TypeSet types = 0;
  for (const JsonTree& name : is_list ? value.items : std::vector<JsonTree>{value}) {
    const auto type = name.is(Kind::kString) ? type_named(name.text) : std::nullopt;
    if (!type) return error(keyword, "names a type that does not exist");
    types |= *type;
  }
  node_->types &= types;
  return {};
}

Status SchemaReader::read_enum(std::string_view keyword, const JsonTree& value) {
  if (!value.is(Kind::kArray)) return error(keyword, "must be an array");
  std::vector<const JsonTree*> values;
  for (const JsonTree& item : value.items) values.push_back(&item);
  return add_values(std::move(values));
}

Status SchemaReader::read_const(std::string_view, const JsonTree& value) {
  return add_values({&value});
}

Status SchemaReader::add_values(std::vector<const JsonTree*> values) {
  if (!node_->values) {
    node_->values = std::move(values);
    return {};
  }
  const auto id = static_cast<SchemaId>(trees_.size());
  trees_.push_back(&no_keywords_);
  SchemaNode& second = document_.nodes_.emplace_back();
  second.pointer = node_->pointer;
  second.values = std::move(values);
  node_->all_of.push_back(id);
  return {};
}

// ---- Other schemas in the same place ----

Status SchemaReader::read_id(std::string_view keyword, const JsonTree&) {
  if (tree_ == &root_) return {};
  return error(keyword, "below the root is not supported: it changes what $ref points to");
}

Status SchemaReader::read_ref(std::string_view keyword, const JsonTree& value) {
  if (!value.is(Kind::kString)) return error(keyword, "must be a string");
  const std::string fragment = percent_decoded(value.text);
  if (fragment.empty() || fragment[0] != '#' || (fragment.size() > 1 && fragment[1] != '/')) {
    return error(keyword, quote_bytes(value.text) + " does not point into the schema (#/...)");
  }
  const std::string pointer = fragment.substr(1);
  const std::vector<const JsonTree*> way = trees_on_way(root_, pointer);
  if (way.empty()) return error(keyword, quote_bytes(value.text) + " points to nothing");
  for (size_t i = 1; i + 1 < way.size(); ++i) {
    if (!has_id(*way[i])) continue;
    return error(keyword, quote_bytes(value.text) + " points into a schema with a $id");
  }
  node_->all_of.push_back(id_of(*way.back(), pointer));
  return {};
}

Status SchemaReader::read_schemas(std::string_view keyword, const JsonTree& value,
                                  std::vector<SchemaId>* out) {
  if (!value.is(Kind::kArray)) return error(keyword, "must be an array of schemas");
  const std::string pointer = pointer_to(node_->pointer, keyword);
  for (const JsonTree& item : value.items) {
    const auto index = static_cast<size_t>(&item - value.items.data());
    out->push_back(id_of(item, pointer_to(pointer, std::to_string(index))));
  }
  return {};
}

Status SchemaReader::read_all_of(std::string_view keyword, const JsonTree& value) {
  return read_schemas(keyword, value, &node_->all_of);
}

Status SchemaReader::read_any_of(std::string_view keyword, const JsonTree& value) {
  SchemaOptions alternatives;
  WL_RETURN_IF_ERROR(read_schemas(keyword, value, &alternatives.options));
  alternatives.is_exclusive = keyword == "oneOf" && alternatives.options.size() > 1;
  if (alternatives.options.empty()) return error(keyword, "must not be empty");
  node_->alternatives.push_back(std::move(alternatives));
  return {};
}

// ---- What is only supported where it says nothing ----

Status SchemaReader::read_not(std::string_view keyword, const JsonTree& value) {
  if (is_true_schema(value)) {
    node_->is_false = true;
    return {};
  }
  return value.is(Kind::kFalse) ? Status() : refuse(keyword, value);
}

Status SchemaReader::read_then(std::string_view keyword, const JsonTree& value) {
  const bool says_nothing = tree_->find("if") == nullptr || is_true_schema(value);
  return says_nothing ? Status() : refuse(keyword, value);
}

Status SchemaReader::read_unevaluated(std::string_view keyword, const JsonTree& value) {
  return is_true_schema(value) ? Status() : refuse(keyword, value);
}

Status SchemaReader::read_dependent(std::string_view keyword, const JsonTree& value) {
  return is_empty_object(value) ? Status() : refuse(keyword, value);
}

Status SchemaReader::refuse(std::string_view keyword, const JsonTree&) {
  return error(keyword, "is not supported");
}

const std::array<SchemaReader::Keyword, 41> SchemaReader::kKeywords = {{
    {"type", &SchemaReader::read_type},
    {"properties", &SchemaReader::read_properties},
    {"required", &SchemaReader::read_required},
    {"additionalProperties", &SchemaReader::read_additional_properties},
    {"items", &SchemaReader::read_items},
    {"enum", &SchemaReader::read_enum},
    {"const", &SchemaReader::read_const},
    {"anyOf", &SchemaReader::read_any_of},
    {"oneOf", &SchemaReader::read_any_of},
    {"allOf", &SchemaReader::read_all_of},
    {"$ref", &SchemaReader::read_ref},
    {"$id", &SchemaReader::read_id},
    {"format", &SchemaReader::read_format},
    {"minLength", &SchemaReader::read_min_length},
    {"maxLength", &SchemaReader::read_max_length},
    {"pattern", &SchemaReader::read_pattern},
    {"minimum", &SchemaReader::read_minimum},
    {"exclusiveMinimum", &SchemaReader::read_minimum},
    {"maximum", &SchemaReader::read_maximum},
    {"exclusiveMaximum", &SchemaReader::read_maximum},
    {"multipleOf", &SchemaReader::read_multiple_of},
    {"prefixItems", &SchemaReader::read_prefix_items},
    {"additionalItems", &SchemaReader::read_additional_items},
    {"minItems", &SchemaReader::read_min_items},
    {"maxItems", &SchemaReader::read_max_items},
    {"uniqueItems", &SchemaReader::read_unique_items},
    {"patternProperties", &SchemaReader::read_pattern_properties},
    {"propertyNames", &SchemaReader::read_property_names},
    {"minProperties", &SchemaReader::read_min_properties},
    {"maxProperties", &SchemaReader::read_max_properties},
    {"not", &SchemaReader::read_not},
    {"then", &SchemaReader::read_then},
    {"else", &SchemaReader::read_then},
    {"unevaluatedItems", &SchemaReader::read_unevaluated},
    {"unevaluatedProperties", &SchemaReader::read_unevaluated},
    {"dependentRequired", &SchemaReader::read_dependent},
    {"dependentSchemas", &SchemaReader::read_dependent},
    {"dependencies", &SchemaReader::read_dependent},
    {"contains", &SchemaReader::refuse},
    {"$dynamicRef", &SchemaReader::refuse},
    {"$recursiveRef", &SchemaReader::refuse},
}};

}  // namespace wl::grammar
