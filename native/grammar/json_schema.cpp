#include "grammar/json_schema.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "grammar/encoded_dfa.h"
#include "grammar/grammar_checks.h"
#include "grammar/json_layout.h"
#include "grammar/json_schema_branches.h"
#include "grammar/json_schema_document.h"
#include "grammar/json_schema_numbers.h"
#include "grammar/json_schema_shapes.h"
#include "grammar/json_schema_strings.h"
#include "grammar/member_chain.h"

namespace wl::grammar {
namespace {

using Kind = JsonTree::Kind;
using Branches = std::vector<Conjunction>;

constexpr size_t kMaxRules = 50'000;  // of one schema, in the sense of combinations of nodes
constexpr size_t kMaxPrefixItems = 1000;

/// Each combination of nodes that can be an array or object becomes a rule, compiled once and not
/// before the one that it was met in is done: so schemas may be recursive and of any depth.
class Compiler {
 public:
  Compiler(SchemaDocument* document, JsonWhitespace whitespace, Grammar* grammar)
      : document_(*document),
        shapes_(*document),
        branches_(document, &shapes_),
        layout_(whitespace),
        grammar_(*grammar) {}

  Result<ExprPtr> run() {
    auto root = value_expr({0});
    if (!root.ok()) return root;
    for (size_t i = 0; i < open_.size(); ++i) {
      if (open_.size() > kMaxRules) return document_.error_at("", "has too many combinations");
      const auto [rule, branches] = open_[i];
      auto expr = choice_expr(branches);
      if (!expr.ok()) return expr;
      grammar_.rules[static_cast<size_t>(rule)] = std::move(expr).value();
    }
    return root;
  }

 private:
  struct OpenRule {
    int32_t rule;
    Branches branches;
  };

  /// A value that all the schemas validate.
  Result<ExprPtr> value_expr(const Conjunction& schemas) {
    const auto known = by_schemas_.find(schemas);
    if (known != by_schemas_.end()) return known->second;
    auto branches = branches_.expand(schemas);
    if (!branches.ok()) return branches.error();
    auto expr = branches_expr(std::move(branches).value());
    if (expr.ok()) by_schemas_.emplace(schemas, expr.value());
    return expr;
  }

  Result<ExprPtr> branches_expr(Branches branches) {
    const auto known = by_branches_.find(branches);
    if (known != by_branches_.end()) return known->second;
    const bool is_nested =
        std::any_of(branches.begin(), branches.end(), [&](const Conjunction& nodes) {
          return (shapes_.types(nodes) & (kArrayType | kObjectType)) != 0 && !has_values(nodes);
        });
    if (!is_nested) {
      auto expr = choice_expr(branches);
      if (expr.ok()) by_branches_.emplace(std::move(branches), expr.value());
      return expr;
    }
    const auto rule = static_cast<int32_t>(grammar_.rules.size());
    grammar_.rules.emplace_back();
    open_.push_back({rule, branches});
    return by_branches_.emplace(std::move(branches), reference(rule)).first->second;
  }

  bool has_values(const Conjunction& nodes) const {
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](SchemaId id) { return document_.node(id).values.has_value(); });
  }

  Result<ExprPtr> choice_expr(const Branches& branches) {
    std::vector<ExprPtr> options;
    std::vector<std::string> literals;
    for (const Conjunction& nodes : branches) {
      if (const auto values = shapes_.values(nodes)) {
        for (const JsonTree* value : *values) add_literal(*value, &options, &literals);
      } else {
        WL_RETURN_IF_ERROR(add_types(nodes, &options));
      }
    }
    if (literals.size() == 1) {
      options.push_back(literal(literals[0]));
    } else if (!literals.empty()) {
      options.push_back(match(std::make_shared<const ByteDfa>(literals_dfa(std::move(literals)))));
    }
    return options.size() == 1 ? options[0] : choice(std::move(options));
  }

  void add_literal(const JsonTree& value, std::vector<ExprPtr>* options,
                   std::vector<std::string>* literals) const {
    ExprPtr expr = layout_.value(value);
    if (const auto* text = std::get_if<Literal>(&expr->node)) {
      literals->push_back(text->bytes);
    } else {
      options->push_back(std::move(expr));
    }
  }

  Status add_types(const Conjunction& nodes, std::vector<ExprPtr>* options) {
    const TypeSet types = shapes_.types(nodes);
    if (nodes.empty()) {
      options->push_back(match(json_scalar()));
    } else {
      if ((types & kStringType) != 0) {
        auto expr = schema_string_expr(shapes_.string(nodes));
        if (!expr.ok()) return error_in(nodes, expr.error().message);
        options->push_back(std::move(expr).value());
      }
      if ((types & kNumberType) != 0) {
        auto expr = schema_number_expr(shapes_.number(nodes));
        if (!expr.ok()) return error_in(nodes, expr.error().message);
        options->push_back(std::move(expr).value());
      }
      if ((types & kBooleanType) != 0) options->push_back(match(json_boolean()));
      if ((types & kNullType) != 0) options->push_back(literal("null"));
    }
    if ((types & kObjectType) != 0) {
      auto expr = object_expr(nodes);
      if (!expr.ok()) return expr.error();
      options->push_back(std::move(expr).value());
    }
    if ((types & kArrayType) != 0) {
      auto expr = array_expr(nodes);
      if (!expr.ok()) return expr.error();
      options->push_back(std::move(expr).value());
    }
    return {};
  }

  /// An error of what several nodes ask together, at the first of them.
  Error error_in(const Conjunction& nodes, const std::string& what) const {
    return document_.error_at(nodes.empty() ? "" : document_.node(nodes[0]).pointer, what);
  }

  Result<ExprPtr> object_expr(const Conjunction& nodes) {
    const auto object = shapes_.object(nodes);
    if (!object.ok()) return object.error();
    const ObjectShape& shape = object.value();
    if (shape.count.min > shape.count.max) return choice({});
    MemberChain chain;
    chain.count = shape.count;
    for (const ObjectMember& member : shape.members) {
      auto value = value_expr(member.value);
      if (!value.ok()) return value;
      chain.members.push_back(
          {layout_.member(literal(json_quoted(member.key)), value.value()), member.is_required});
    }
    std::vector<ExprPtr> extras;
    for (const ExtraMembers& kind : shape.extras) {
      WL_RETURN_IF_ERROR(add_extra_members(shape, kind, nodes, &extras));
    }
    if (!extras.empty()) chain.extra = extras.size() == 1 ? extras[0] : choice(std::move(extras));
    auto members = member_chain_expr(chain, layout_.comma(), &grammar_);
    if (!members.ok()) return error_in(nodes, members.error().message);
    return layout_.bracketed("{", members.value(), "}");
  }

  /// Members with keys that are not declared. Keys that names restrict come as branches of strings.
  Status add_extra_members(const ObjectShape& shape, const ExtraMembers& kind,
                           const Conjunction& nodes, std::vector<ExprPtr>* extras) {
    auto names = branches_.expand(shape.names);
    if (!names.ok()) return names.error();
    for (const Conjunction& name : names.value()) {
      auto key = extra_key_expr(shape, kind, name);
      if (!key.ok())
        return error_in(nodes, "patternProperties or propertyNames " + key.error().message);
      if (key.value() == nullptr) continue;
      auto value = value_expr(kind.value);
      if (!value.ok()) return value.error();
      extras->push_back(layout_.member(key.value(), value.value()));
    }
    return {};
  }

  /// Null: there is no such key.
  Result<ExprPtr> extra_key_expr(const ObjectShape& shape, const ExtraMembers& kind,
                                 const Conjunction& name) {
    if ((shapes_.types(name) & kStringType) == 0) return ExprPtr();
    const auto values = shapes_.values(name);
    const StringShape string = shapes_.string(name);
    const bool is_free = !values && string.patterns.empty() && string.formats.empty() &&
                         string.length == UnitBounds{};
    if (is_free && kind.matching.empty() && kind.others.empty()) {
      return other_string_expr(shape.declared_keys);
    }
    auto keys = schema_strings(string);
    if (values) {
      std::vector<std::string> texts;
      for (const JsonTree* value : *values) {
        if (value->is(Kind::kString)) texts.push_back(value->text);
      }
      keys = strings_dfa(texts);
    }
    for (const SchemaPattern& pattern : kind.matching) {
      if (keys.ok()) keys = intersection(keys.value(), *pattern.strings);
    }
    for (const SchemaPattern& pattern : kind.others) {
      if (keys.ok()) keys = difference(keys.value(), *pattern.strings);
    }
    if (keys.ok()) keys = difference(keys.value(), strings_dfa(shape.declared_keys));
    if (!keys.ok()) return keys.error();
    if (keys.value().is_empty()) return ExprPtr();
    auto rest = std::make_shared<const ByteDfa>(json_string_rest_dfa(keys.value()));
    return concatenation({literal("\""), match(std::move(rest))});
  }

  Result<ExprPtr> array_expr(const Conjunction& nodes) {
    ArrayShape shape = shapes_.array(nodes);
    if (shape.prefix.size() > kMaxPrefixItems)
      return error_in(nodes, "prefixItems has too many items");
    if (shape.count.min > shape.count.max) return choice({});
    if (shape.has_unique_items && shape.count.max > 1) {
      return error_in(nodes, "uniqueItems is only supported with maxItems of 1");
    }
    // From the last item of the prefix to the first: what follows item i, the comma included.
    const auto num_single = static_cast<uint32_t>(
        std::min<size_t>(std::max<size_t>(shape.prefix.size(), 1), shape.count.max));
    ExprPtr after = sequence({});
    if (shape.count.max > num_single) {
      auto rest = value_expr(shape.rest);
      if (!rest.ok()) return rest;
      const uint32_t min = shape.count.min - std::min(shape.count.min, num_single);
      const uint32_t max = shape.count.max == UnitBounds::kUnbounded ? shape.count.max
                                                                     : shape.count.max - num_single;
      after = repeat(concatenation({layout_.comma(), rest.value()}), min, max);
    }
    for (uint32_t i = num_single; i-- > 0;) {
      auto item = value_expr(shape.item(i));
      if (!item.ok()) return item;
      ExprPtr with_item =
          concatenation({i == 0 ? sequence({}) : layout_.comma(), item.value(), after});
      after =
          i < shape.count.min ? std::move(with_item) : choice({sequence({}), std::move(with_item)});
    }
    return layout_.bracketed("[", after, "]");
  }

  const SchemaDocument& document_;
  SchemaShapes shapes_;
  SchemaBranches branches_;
  const JsonLayout layout_;
  Grammar& grammar_;
  std::map<Conjunction, ExprPtr> by_schemas_;
  std::map<Branches, ExprPtr> by_branches_;
  std::vector<OpenRule> open_;
};

}  // namespace

Result<ExprPtr> json_schema_expr(const JsonTree& schema, const JsonSchemaOptions& options,
                                 Grammar* grammar) {
  const auto document = SchemaDocument::read(schema, options.name);
  if (!document.ok()) return document.error();
  auto expr = Compiler(document.value().get(), options.whitespace, grammar).run();
  if (!expr.ok()) return expr;
  if (!is_productive(*expr.value(), rule_facts(*grammar))) {
    return document.value()->error_at("", "no value can meet it");
  }
  return expr;
}

}  // namespace wl::grammar
