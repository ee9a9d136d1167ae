#include "grammar/json_schema_shapes.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace wl::grammar {
namespace {

constexpr size_t kMaxPatterns = 6;  // of one object: each combination of them is a kind of members

UnitBounds tighter(UnitBounds a, UnitBounds b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

}  // namespace

void add_once(SchemaId id, Conjunction* conjunction) {
  if (std::find(conjunction->begin(), conjunction->end(), id) == conjunction->end()) {
    conjunction->push_back(id);
  }
}

TypeSet SchemaShapes::types(const Conjunction& nodes) const {
  TypeSet types = kAllTypes;
  for (const SchemaId id : nodes) {
    types &= document_.node(id).is_false ? TypeSet{0} : document_.node(id).types;
  }
  return types;
}

std::optional<std::vector<const JsonTree*>> SchemaShapes::values(const Conjunction& nodes) {
  const auto with_values = std::find_if(nodes.begin(), nodes.end(), [&](SchemaId id) {
    return document_.node(id).values.has_value();
  });
  if (with_values == nodes.end()) return std::nullopt;
  std::vector<const JsonTree*> valid;
  for (const JsonTree* value : *document_.node(*with_values).values) {
    const auto holds = [&](SchemaId id) {
      return id == *with_values ? checker_.validates_own_but_values(document_.node(id), *value)
                                : checker_.validates_own(document_.node(id), *value);
    };
    if (std::all_of(nodes.begin(), nodes.end(), holds)) valid.push_back(value);
  }
  return valid;
}

NumberShape SchemaShapes::number(const Conjunction& nodes) const {
  NumberShape shape;
  shape.range.is_integral = (types(nodes) & kFractionType) == 0;
  for (const SchemaId id : nodes) {
    const SchemaNode& node = document_.node(id);
    if (node.multiple_of) {
      shape.range.is_integral = true;
      const uint64_t divisor = std::lcm<uint64_t>(shape.divisor, *node.multiple_of);
      shape.divisor = static_cast<uint32_t>(std::min<uint64_t>(divisor, UINT32_MAX));
    }
  }
  const auto tighten = [](std::optional<Decimal>* bound, Decimal value, int sign) {
    if (!*bound || sign * compare(value, **bound) > 0) *bound = std::move(value);
  };
  const bool is_integral = shape.range.is_integral;
  for (const SchemaId id : nodes) {
    if (const auto& min = document_.node(id).min) {
      tighten(&shape.range.min,
              min->is_exclusive ? next_above(min->value, is_integral) : min->value, 1);
    }
    if (const auto& max = document_.node(id).max) {
      tighten(&shape.range.max,
              max->is_exclusive ? next_below(max->value, is_integral) : max->value, -1);
    }
  }
  return shape;
}

StringShape SchemaShapes::string(const Conjunction& nodes) const {
  StringShape shape;
  for (const SchemaId id : nodes) {
    const SchemaNode& node = document_.node(id);
    shape.length = tighter(shape.length, node.length);
    if (node.pattern) shape.patterns.push_back(*node.pattern);
    if (node.format != nullptr) shape.formats.push_back(node.format);
  }
  return shape;
}

ArrayShape SchemaShapes::array(const Conjunction& nodes) const {
  ArrayShape shape;
  size_t prefix_size = 0;
  for (const SchemaId id : nodes) {
    const SchemaNode& node = document_.node(id);
    shape.count = tighter(shape.count, node.num_items);
    shape.has_unique_items = shape.has_unique_items || node.has_unique_items;
    prefix_size = std::max(prefix_size, node.prefix_items.size());
    if (node.items) add_once(*node.items, &shape.rest);
  }
  shape.prefix.resize(prefix_size);
  for (size_t i = 0; i < prefix_size; ++i) {
    for (const SchemaId id : nodes) {
      const SchemaNode& node = document_.node(id);
      const auto item = i < node.prefix_items.size() ? node.prefix_items[i] : node.items;
      if (item) add_once(*item, &shape.prefix[i]);
    }
  }
  const auto first_forbidden =
      std::find_if(shape.prefix.begin(), shape.prefix.end(),
                   [&](const Conjunction& item) { return has_false(item); });
  if (first_forbidden != shape.prefix.end() || has_false(shape.rest)) {
    const auto num_allowed = static_cast<uint32_t>(first_forbidden - shape.prefix.begin());
    shape.count.max = std::min(shape.count.max, num_allowed);
  }
  return shape;
}

Result<ObjectShape> SchemaShapes::object(const Conjunction& nodes) {
  ObjectShape shape;
  std::set<std::string> required;
  std::set<std::string> declared;
  const auto declare = [&](const std::string& key) {
    if (declared.insert(key).second) shape.declared_keys.push_back(key);
  };
  for (const SchemaId id : nodes) {
    const SchemaNode& node = document_.node(id);
    shape.count = tighter(shape.count, node.num_properties);
    required.insert(node.required.begin(), node.required.end());
    for (const auto& [key, schema] : node.properties) declare(key);
    if (node.property_names) add_once(*node.property_names, &shape.names);
  }
  for (const SchemaId id : nodes) {
    for (const std::string& key : document_.node(id).required) declare(key);
  }
  for (const std::string& key : shape.declared_keys) {
    ObjectMember member{key, {}, required.contains(key)};
    for (const SchemaId id : nodes) {
      for (const SchemaId schema : schemas_of_property(document_.node(id), key)) {
        add_once(schema, &member.value);
      }
    }
    const bool is_allowed = is_name_allowed(nodes, key) && !has_false(member.value);
    if (is_allowed) {
      shape.members.push_back(std::move(member));
    } else if (member.is_required) {
      shape.count = {1, 0};  // nothing has it
    }
  }
  auto extra_members = extras(nodes);
  if (!extra_members.ok()) return extra_members.error();
  shape.extras = std::move(extra_members).value();
  return shape;
}

bool SchemaShapes::has_false(const Conjunction& nodes) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](SchemaId id) { return document_.node(id).is_false; });
}

bool SchemaShapes::is_name_allowed(const Conjunction& nodes, const std::string& key) {
  return std::all_of(nodes.begin(), nodes.end(), [&](SchemaId id) {
    const auto& names = document_.node(id).property_names;
    return !names || checker_.validates_name(*names, key);
  });
}

/// The members are listed, and nothing is said of others: none are written, though any would
/// validate. Small models go on inventing members where they may.
bool SchemaShapes::is_listed(const Conjunction& nodes) const {
  const auto lists = [&](SchemaId id) { return document_.node(id).lists_properties; };
  const auto asks_for_more = [&](SchemaId id) {
    const SchemaNode& node = document_.node(id);
    return node.property_names || !node.pattern_properties.empty() || node.num_properties.min > 0;
  };
  return std::ranges::any_of(nodes, lists) && std::ranges::none_of(nodes, asks_for_more);
}

Result<std::vector<ExtraMembers>> SchemaShapes::extras(const Conjunction& nodes) const {
  std::vector<SchemaPattern> patterns;
  for (const SchemaId id : nodes) {
    for (const auto& [pattern, schema] : document_.node(id).pattern_properties) {
      const auto is_same = [&](const SchemaPattern& other) { return other.text == pattern.text; };
      if (std::none_of(patterns.begin(), patterns.end(), is_same)) patterns.push_back(pattern);
    }
  }
  if (patterns.size() > kMaxPatterns) {
    return document_.error_at(document_.node(nodes[0]).pointer,
                              "patternProperties with more than " + std::to_string(kMaxPatterns) +
                                  " patterns is not supported");
  }
  std::vector<ExtraMembers> kinds;
  for (size_t combination = 0; combination < size_t{1} << patterns.size(); ++combination) {
    ExtraMembers kind;
    std::set<std::string> matching;
    for (size_t i = 0; i < patterns.size(); ++i) {
      const bool matches = (combination >> i & 1) != 0;
      (matches ? kind.matching : kind.others).push_back(patterns[i]);
      if (matches) matching.insert(patterns[i].text);
    }
    for (const SchemaId id : nodes) {
      const SchemaNode& node = document_.node(id);
      bool has_match = false;
      for (const auto& [pattern, schema] : node.pattern_properties) {
        if (!matching.contains(pattern.text)) continue;
        add_once(schema, &kind.value);
        has_match = true;
      }
      if (!has_match && node.additional_properties) {
        add_once(*node.additional_properties, &kind.value);
      }
    }
    if (kind.matching.empty() && kind.value.empty() && is_listed(nodes)) continue;
    if (!has_false(kind.value)) kinds.push_back(std::move(kind));
  }
  return kinds;
}

}  // namespace wl::grammar
