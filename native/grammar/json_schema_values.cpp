#include "grammar/json_schema_values.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace wl::grammar {
namespace {

using Kind = JsonTree::Kind;

bool is_within(size_t count, UnitBounds bounds) {
  return count >= bounds.min && (bounds.max == UnitBounds::kUnbounded || count <= bounds.max);
}

bool meets(const Decimal& value, const NumberBound& bound, int sign) {
  const int order = sign * compare(value, bound.value);
  return bound.is_exclusive ? order > 0 : order >= 0;
}

TypeSet type_of(const JsonTree& value) {
  switch (value.kind) {
    case Kind::kNull:
      return kNullType;
    case Kind::kFalse:
    case Kind::kTrue:
      return kBooleanType;
    case Kind::kNumber: {
      const auto number = parse_decimal(value.text);
      return number && number->fraction.empty() ? kIntegerType : kFractionType;
    }
    case Kind::kString:
      return kStringType;
    case Kind::kArray:
      return kArrayType;
    case Kind::kObject:
      return kObjectType;
  }
  return 0;
}

bool is_string_valid(const SchemaNode& node, const std::string& text) {
  size_t num_chars = 0;
  for (size_t pos = 0; pos < text.size(); ++num_chars) pos += char_at(text, pos).num_bytes;
  if (!is_within(num_chars, node.length)) return false;
  if (node.pattern && !node.pattern->strings->accepts(text)) return false;
  return node.format == nullptr || node.format->strings.accepts(text);
}

bool is_number_valid(const SchemaNode& node, const std::string& text) {
  const auto number = parse_decimal(text);
  if (!number) return false;
  if (node.min && !meets(*number, *node.min, 1)) return false;
  if (node.max && !meets(*number, *node.max, -1)) return false;
  if (!node.multiple_of) return true;
  uint32_t remainder = 0;
  for (const char digit : number->integer) {
    remainder = (remainder * 10 + static_cast<uint32_t>(digit - '0')) % *node.multiple_of;
  }
  return number->fraction.empty() && remainder == 0;
}

}  // namespace

bool is_same_value(const JsonTree& a, const JsonTree& b) {
  if (a.kind != b.kind) return false;
  if (a.is(Kind::kNumber)) {
    const auto left = parse_decimal(a.text), right = parse_decimal(b.text);
    return left && right ? compare(*left, *right) == 0 : a.text == b.text;
  }
  if (a.text != b.text || a.items.size() != b.items.size()) return false;
  if (a.members.size() != b.members.size()) return false;
  const auto has_same_member = [&](const JsonTreeMember& member) {
    const JsonTree* other = b.find(member.key);
    return other != nullptr && is_same_value(member.value, *other);
  };
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), is_same_value) &&
         std::all_of(a.members.begin(), a.members.end(), has_same_member);
}

bool ValueChecker::validates(SchemaId id, const JsonTree& value) {
  const auto key = std::pair(id, &value);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const SchemaNode& node = document_.node(id);
  const auto holds = [&](SchemaId other) { return validates(other, value); };
  const auto has_held_option = [&](const SchemaOptions& alternatives) {
    const auto& options = alternatives.options;
    const auto num_held = std::count_if(options.begin(), options.end(), holds);
    return alternatives.is_exclusive ? num_held == 1 : num_held >= 1;
  };
  const bool is_valid =
      validates_own(node, value) && std::all_of(node.all_of.begin(), node.all_of.end(), holds) &&
      std::all_of(node.alternatives.begin(), node.alternatives.end(), has_held_option);
  known_[key] = is_valid;
  return is_valid;
}

bool ValueChecker::validates_own(const SchemaNode& node, const JsonTree& value) {
  if (node.values) {
    const auto is_value = [&](const JsonTree* other) { return is_same_value(value, *other); };
    if (!std::any_of(node.values->begin(), node.values->end(), is_value)) return false;
  }
  return validates_own_but_values(node, value);
}

bool ValueChecker::validates_own_but_values(const SchemaNode& node, const JsonTree& value) {
  if (node.is_false || (type_of(value) & node.types) == 0) return false;
  switch (value.kind) {
    case Kind::kString:
      return is_string_valid(node, value.text);
    case Kind::kNumber:
      return is_number_valid(node, value.text);
    case Kind::kArray:
      return is_array_valid(node, value.items);
    case Kind::kObject:
      return is_object_valid(node, value);
    default:
      return true;
  }
}

bool ValueChecker::validates_name(SchemaId id, const std::string& name) {
  const auto added = names_.try_emplace(name, JsonTree{Kind::kString, name, {}, {}});
  return validates(id, added.first->second);
}

bool ValueChecker::is_array_valid(const SchemaNode& node, const std::vector<JsonTree>& items) {
  if (!is_within(items.size(), node.num_items)) return false;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto schema = i < node.prefix_items.size() ? node.prefix_items[i] : node.items;
    if (schema && !validates(*schema, items[i])) return false;
    if (!node.has_unique_items) continue;
    for (size_t k = 0; k < i; ++k) {
      if (is_same_value(items[k], items[i])) return false;
    }
  }
  return true;
}

bool ValueChecker::is_member_valid(const SchemaNode& node, const JsonTreeMember& member) {
  if (node.property_names && !validates_name(*node.property_names, member.key)) return false;
  const std::vector<SchemaId> schemas = schemas_of_property(node, member.key);
  return std::all_of(schemas.begin(), schemas.end(),
                     [&](SchemaId schema) { return validates(schema, member.value); });
}

bool ValueChecker::is_object_valid(const SchemaNode& node, const JsonTree& object) {
  if (!is_within(object.members.size(), node.num_properties)) return false;
  const auto is_present = [&](const std::string& key) { return object.find(key) != nullptr; };
  const auto is_valid = [&](const JsonTreeMember& member) { return is_member_valid(node, member); };
  return std::all_of(node.required.begin(), node.required.end(), is_present) &&
         std::all_of(object.members.begin(), object.members.end(), is_valid);
}

}  // namespace wl::grammar
