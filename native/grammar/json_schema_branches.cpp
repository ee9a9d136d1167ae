#include "grammar/json_schema_branches.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace wl::grammar {
namespace {

constexpr size_t kMaxBranches = 1024;  // of schemas that hold together
constexpr size_t kMaxNodes = 4096;     // that hold together
constexpr int kProofDepth = 6;         // how deep in a value options of a oneOf may differ
constexpr int kProofSteps = 2000;      // and what looking for the difference may cost

}  // namespace

Result<std::vector<Conjunction>> SchemaBranches::expand(const Conjunction& schemas) {
  std::vector<Partial> queue(1);
  for (const SchemaId id : schemas) WL_RETURN_IF_ERROR(close(id, &queue[0]));
  std::vector<Conjunction> branches;
  // A queue, so that branches come in the order of their options.
  for (size_t i = 0; i < queue.size(); ++i) {
    Partial partial = std::move(queue[i]);
    if (shapes_.types(partial.nodes) == 0) continue;
    if (partial.open.empty()) {
      std::erase_if(partial.nodes, [&](SchemaId id) { return says_nothing(id); });
      if (std::find(branches.begin(), branches.end(), partial.nodes) == branches.end()) {
        branches.push_back(std::move(partial.nodes));
      }
      continue;
    }
    const SchemaOptions& alternatives = *partial.open.back();
    partial.open.pop_back();
    for (const SchemaId option : alternatives.options) {
      auto ways = choose(partial, alternatives, option);
      if (!ways.ok()) return ways.error();
      std::ranges::move(ways.value(), std::back_inserter(queue));
    }
    if (queue.size() > kMaxBranches) {
      return document_.error_at(document_.node(schemas[0]).pointer,
                                "anyOf and oneOf have too many combinations");
    }
  }
  return branches;
}

/// Adds the node with all that holds together with it.
Status SchemaBranches::close(SchemaId id, Partial* partial) const {
  Conjunction queue = {id};
  for (size_t i = 0; i < queue.size(); ++i) {
    const size_t size = partial->nodes.size();
    add_once(queue[i], &partial->nodes);
    if (partial->nodes.size() == size) continue;  // was there
    if (size >= kMaxNodes) {
      return document_.error_at(
          document_.node(id).pointer,
          "more than " + std::to_string(kMaxNodes) + " schemas hold together");
    }
    const SchemaNode& node = document_.node(queue[i]);
    queue.insert(queue.end(), node.all_of.begin(), node.all_of.end());
    for (const SchemaOptions& alternatives : node.alternatives) {
      partial->open.push_back(&alternatives);
    }
  }
  return {};
}

/// The option holds, and if it is one of a oneOf, no other does.
Result<std::vector<SchemaBranches::Partial>> SchemaBranches::choose(
    const Partial& partial, const SchemaOptions& alternatives, SchemaId option) {
  std::vector<Partial> ways = {partial};
  WL_RETURN_IF_ERROR(close(option, &ways[0]));
  if (!alternatives.is_exclusive) return ways;
  for (const SchemaId other : alternatives.options) {
    if (other == option) continue;
    std::vector<Partial> excluding;
    for (Partial& way : ways) add_without(std::move(way), other, &excluding);
    ways = std::move(excluding);
    if (!ways.empty()) continue;
    return document_.error_at(
        document_.node(option).pointer,
        "oneOf is only supported where no value can meet two of its options, and this one and " +
            escape_bytes(document_.node(other).pointer, 200) + " may have values in common");
  }
  return ways;
}

/// The way, as long as it excludes the other option, or else with each of the properties left out
/// that the other requires.
void SchemaBranches::add_without(Partial way, SchemaId other, std::vector<Partial>* out) {
  if (excludes(way, other)) {
    out->push_back(std::move(way));
    return;
  }
  const auto required_by = [&](const Conjunction& nodes) {
    std::set<std::string> keys;
    for (const SchemaId id : nodes) {
      keys.insert(document_.node(id).required.begin(), document_.node(id).required.end());
    }
    return keys;
  };
  Partial alone;
  if (!close(other, &alone).ok()) return;
  const std::set<std::string> needed = required_by(way.nodes);
  for (const std::string& key : required_by(alone.nodes)) {
    if (needed.contains(key) || out->size() > kMaxBranches) continue;
    Partial lacking = way;
    add_once(document_.absent(key), &lacking.nodes);
    if (excludes(lacking, other)) out->push_back(std::move(lacking));
  }
}

/// Whether it can be shown that no value meets both all of `partial` and the other schema.
bool SchemaBranches::excludes(const Partial& partial, SchemaId other) {
  Partial both = partial;
  if (!close(other, &both).ok()) return false;
  steps_left_ = kProofSteps;
  return is_provably_empty(std::move(both), kProofDepth);
}

bool SchemaBranches::is_provably_empty(Partial partial, int depth) {
  if (--steps_left_ < 0) return false;
  if (contradicts_itself(partial.nodes, depth)) return true;
  if (partial.open.empty()) return false;
  const SchemaOptions& alternatives = *partial.open.back();
  partial.open.pop_back();
  return std::all_of(
      alternatives.options.begin(), alternatives.options.end(), [&](SchemaId option) {
        Partial next = partial;
        return close(option, &next).ok() && is_provably_empty(std::move(next), depth);
      });
}

bool SchemaBranches::is_empty_conjunction(const Conjunction& schemas, int depth) {
  if (depth == 0 || schemas.empty()) return false;
  Partial partial;
  for (const SchemaId id : schemas) {
    if (!close(id, &partial).ok()) return false;
  }
  return is_provably_empty(std::move(partial), depth - 1);
}

bool SchemaBranches::contradicts_itself(const Conjunction& nodes, int depth) {
  const TypeSet types = shapes_.types(nodes);
  if (types == 0) return true;
  if (const auto values = shapes_.values(nodes)) return values->empty();
  if ((types & (kNullType | kBooleanType)) != 0) return false;
  if ((types & kNumberType) != 0) {
    const NumberRange range = shapes_.number(nodes).range;
    if (!range.min || !range.max || compare(*range.min, *range.max) <= 0) return false;
  }
  if ((types & kStringType) != 0 && !is_empty_string(nodes)) return false;
  if ((types & kArrayType) != 0 && !is_empty_array(nodes, depth)) return false;
  return (types & kObjectType) == 0 || is_empty_object(nodes, depth);
}

bool SchemaBranches::is_empty_string(const Conjunction& nodes) {
  const StringShape shape = shapes_.string(nodes);
  return shape.length.min > shape.length.max;
}

bool SchemaBranches::is_empty_array(const Conjunction& nodes, int depth) {
  const ArrayShape shape = shapes_.array(nodes);
  if (shape.count.min > shape.count.max) return true;
  const size_t num_needed = std::min<size_t>(shape.count.min, shape.prefix.size() + 1);
  for (size_t i = 0; i < num_needed; ++i) {
    if (is_empty_conjunction(shape.item(i), depth)) return true;
  }
  return false;
}

bool SchemaBranches::is_empty_object(const Conjunction& nodes, int depth) {
  const auto shape = shapes_.object(nodes);
  if (!shape.ok()) return false;
  if (shape.value().count.min > shape.value().count.max) return true;
  const auto& members = shape.value().members;
  return std::any_of(members.begin(), members.end(), [&](const ObjectMember& member) {
    return member.is_required && is_empty_conjunction(member.value, depth);
  });
}

bool SchemaBranches::says_nothing(SchemaId id) const {
  const SchemaNode& node = document_.node(id);
  return !node.is_false && node.types == kAllTypes && !node.values && node.length == UnitBounds{} &&
         !node.pattern && node.format == nullptr && !node.min && !node.max && !node.multiple_of &&
         node.prefix_items.empty() && !node.items && node.num_items == UnitBounds{} &&
         !node.has_unique_items && node.properties.empty() && node.required.empty() &&
         node.pattern_properties.empty() && !node.additional_properties && !node.property_names &&
         node.num_properties == UnitBounds{};
}

}  // namespace wl::grammar
