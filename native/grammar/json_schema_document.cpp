#include "grammar/json_schema_document.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "grammar/regex.h"

namespace wl::grammar {
namespace {

using Kind = JsonTree::Kind;

constexpr size_t kMaxNodes = 100'000;        // subschemas
constexpr uint32_t kMaxDivisor = 10'000;     // of multipleOf: each remainder is a state
constexpr double kMaxBound = 4'000'000'000;  // of lengths and counts; more is as good as none

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

/// Undoes %41 in a URI fragment; what is no such escape stays.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const char* const end = digits.data() + digits.size();
    if (text[i] == '%' && digits.size() == 2 &&
        std::from_chars(digits.data(), end, value, 16).ptr == end) {
      out.push_back(static_cast<char>(value));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

/// Undoes the escapes of one step of a JSON pointer (RFC 6901).
std::string pointer_step_decoded(std::string_view step) {
  std::string out;
  for (size_t i = 0; i < step.size(); ++i) {
    if (step[i] == '~' && i + 1 < step.size()) {
      out.push_back(step[++i] == '1' ? '/' : '~');
    } else {
      out.push_back(step[i]);
    }
  }
  return out;
}

const JsonTree* child_at(const JsonTree& tree, const std::string& step) {
  if (tree.is(Kind::kObject)) return tree.find(step);
  size_t index = 0;
  const char* const end = step.data() + step.size();
  const bool is_index = std::from_chars(step.data(), end, index).ptr == end && !step.empty();
  return tree.is(Kind::kArray) && is_index && index < tree.items.size() ? &tree.items[index]
                                                                        : nullptr;
}

/// In front of a property of this name stands a schema, not a string.
bool has_id(const JsonTree& tree) {
  const JsonTree* id = tree.is(Kind::kObject) ? tree.find("$id") : nullptr;
  return id != nullptr && id->is(Kind::kString);
}

}  // namespace

/// Reads nodes until every id that was given out is read.
class SchemaReader {
 public:
  SchemaReader(const JsonTree& root, SchemaDocument* document)
      : root_(root), document_(*document) {}

  Status run() {
    id_of(root_, "");
    for (size_t i = 0; i < trees_.size(); ++i) {
      if (trees_.size() > kMaxNodes) return document_.error_at("", "has too many subschemas");
      node_ = &document_.nodes_[i];
      WL_RETURN_IF_ERROR(read_node(*trees_[i]));
    }
    return check_loops();
  }

 private:
  using Reader = Status (SchemaReader::*)(std::string_view keyword, const JsonTree& value);
  struct Keyword {
    std::string_view name;
    Reader read;
  };
  static const std::array<Keyword, 41> kKeywords;

  SchemaId id_of(const JsonTree& tree, std::string pointer) {
    const auto [found, is_new] = ids_.try_emplace(&tree, static_cast<SchemaId>(trees_.size()));
    if (is_new) {
      trees_.push_back(&tree);
      document_.nodes_.emplace_back().pointer = std::move(pointer);
    }
    return found->second;
  }

  SchemaId child(const JsonTree& tree, std::string_view keyword) {
    return id_of(tree, pointer_to(node_->pointer, keyword));
  }

  Error error(std::string_view keyword, const std::string& what) const {
    return document_.error_at(node_->pointer, std::string(keyword) + " " + what);
  }

  Status read_node(const JsonTree& tree) {
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

  // Any type.

  Status read_type(std::string_view keyword, const JsonTree& value) {
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

  Status read_enum(std::string_view keyword, const JsonTree& value) {
    if (!value.is(Kind::kArray)) return error(keyword, "must be an array");
    std::vector<const JsonTree*> values;
    for (const JsonTree& item : value.items) values.push_back(&item);
    return add_values(std::move(values));
  }

  Status read_const(std::string_view, const JsonTree& value) { return add_values({&value}); }

  /// enum and const in one schema: the second becomes a node of its own.
  Status add_values(std::vector<const JsonTree*> values) {
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

  // Other schemas in the same place.

  /// A base for the references below it; that of the root is the document's own.
  Status read_id(std::string_view keyword, const JsonTree&) {
    if (tree_ == &root_) return {};
    return error(keyword, "below the root is not supported: it changes what $ref points to");
  }

  Status read_ref(std::string_view keyword, const JsonTree& value) {
    if (!value.is(Kind::kString)) return error(keyword, "must be a string");
    const std::string fragment = percent_decoded(value.text);
    if (fragment.empty() || fragment[0] != '#' || (fragment.size() > 1 && fragment[1] != '/')) {
      return error(keyword, quote_bytes(value.text) + " does not point into the schema (#/...)");
    }
    const JsonTree* target = &root_;
    for (size_t at = 1; at < fragment.size();) {
      if (target != &root_ && has_id(*target)) {
        return error(keyword, quote_bytes(value.text) + " points into a schema with a $id");
      }
      const size_t end = std::min(fragment.find('/', at + 1), fragment.size());
      target = child_at(*target, pointer_step_decoded({fragment.data() + at + 1, end - at - 1}));
      if (target == nullptr) {
        return error(keyword, quote_bytes(value.text) + " points to nothing");
      }
      at = end;
    }
    node_->all_of.push_back(id_of(*target, fragment.substr(1)));
    return {};
  }

  Status read_schemas(std::string_view keyword, const JsonTree& value, std::vector<SchemaId>* out) {
    if (!value.is(Kind::kArray)) return error(keyword, "must be an array of schemas");
    const std::string pointer = pointer_to(node_->pointer, keyword);
    for (const JsonTree& item : value.items) {
      const auto index = static_cast<size_t>(&item - value.items.data());
      out->push_back(id_of(item, pointer_to(pointer, std::to_string(index))));
    }
    return {};
  }

  Status read_all_of(std::string_view keyword, const JsonTree& value) {
    return read_schemas(keyword, value, &node_->all_of);
  }

  Status read_any_of(std::string_view keyword, const JsonTree& value) {
    SchemaOptions alternatives;
    WL_RETURN_IF_ERROR(read_schemas(keyword, value, &alternatives.options));
    alternatives.is_exclusive = keyword == "oneOf" && alternatives.options.size() > 1;
    if (alternatives.options.empty()) return error(keyword, "must not be empty");
    node_->alternatives.push_back(std::move(alternatives));
    return {};
  }

  // Strings.

  Status read_bound(std::string_view keyword, const JsonTree& value, uint32_t* out) {
    const auto number = value.is(Kind::kNumber) ? parse_decimal(value.text) : std::nullopt;
    if (!number || number->is_negative || !number->fraction.empty()) {
      return error(keyword, "must be an integer that is not negative");
    }
    double bound = 0;
    std::from_chars(number->integer.data(), number->integer.data() + number->integer.size(), bound);
    *out = static_cast<uint32_t>(std::min(bound, kMaxBound));
    return {};
  }

  Status read_min_length(std::string_view keyword, const JsonTree& value) {
    return read_bound(keyword, value, &node_->length.min);
  }
  Status read_max_length(std::string_view keyword, const JsonTree& value) {
    return read_bound(keyword, value, &node_->length.max);
  }

  Result<SchemaPattern> compile_pattern(std::string_view keyword, const std::string& text) {
    auto& strings = patterns_[text];
    if (strings == nullptr) {
      auto dfa = parse_regex(text, {.scope = RegexOptions::Scope::kSearch});
      if (!dfa.ok()) return error(keyword, quote_bytes(text) + " " + dfa.error().message);
      strings = std::make_shared<const CharDfa>(std::move(dfa).value());
    }
    return SchemaPattern{text, strings};
  }

  Status read_pattern(std::string_view keyword, const JsonTree& value) {
    if (!value.is(Kind::kString)) return error(keyword, "must be a string");
    auto pattern = compile_pattern(keyword, value.text);
    if (!pattern.ok()) return pattern.error();
    node_->pattern = std::move(pattern).value();
    return {};
  }

  Status read_format(std::string_view keyword, const JsonTree& value) {
    if (!value.is(Kind::kString)) return error(keyword, "must be a string");
    if (value.text == "int32") {
      tighten(&node_->min, *parse_decimal("-2147483648"), false, 1);
      tighten(&node_->max, *parse_decimal("2147483647"), false, -1);
    }
    if (value.text == "int32" || value.text == "int64") {
      node_->types &= static_cast<TypeSet>(~kFractionType);
    }
    const auto format = string_format(value.text);
    if (!format.ok()) return error(keyword, format.error().message);
    node_->format = format.value();
    return {};
  }

  // Numbers.

  /// Keeps the tighter of two bounds; sign 1: of minima, -1: of maxima.
  static void tighten(std::optional<NumberBound>* bound, Decimal value, bool is_exclusive,
                      int sign) {
    if (*bound) {
      const int order = sign * compare(value, (*bound)->value);
      if (order < 0 || (order == 0 && !is_exclusive)) return;
    }
    *bound = NumberBound{std::move(value), is_exclusive};
  }

  Status read_minimum(std::string_view keyword, const JsonTree& value) {
    return read_number_bound(keyword, value, "exclusiveMinimum", &node_->min, 1);
  }
  Status read_maximum(std::string_view keyword, const JsonTree& value) {
    return read_number_bound(keyword, value, "exclusiveMaximum", &node_->max, -1);
  }

  Status read_number_bound(std::string_view keyword, const JsonTree& value,
                           std::string_view exclusive, std::optional<NumberBound>* bound,
                           int sign) {
    // In draft 4 the exclusive keyword is a boolean beside the bound.
    if (keyword == exclusive && value.is_bool()) return {};
    auto number = value.is(Kind::kNumber) ? parse_decimal(value.text) : std::nullopt;
    if (!number) return error(keyword, "must be a number");
    const JsonTree* flag = tree_->find(exclusive);
    const bool is_exclusive = keyword == exclusive || (flag != nullptr && flag->is(Kind::kTrue));
    tighten(bound, *std::move(number), is_exclusive, sign);
    return {};
  }

  Status read_multiple_of(std::string_view keyword, const JsonTree& value) {
    const auto number = value.is(Kind::kNumber) ? parse_decimal(value.text) : std::nullopt;
    if (!number) return error(keyword, "must be a number");
    if (!number->fraction.empty()) return error(keyword, "of a fraction is not supported");
    uint32_t divisor = 0;
    const char* const end = number->integer.data() + number->integer.size();
    std::from_chars(number->integer.data(), end, divisor);
    if (number->is_negative || divisor == 0) {
      if (number->integer == "0" || number->is_negative) return error(keyword, "must be positive");
    }
    if (divisor == 0 || divisor > kMaxDivisor) {
      return error(keyword, "of more than " + std::to_string(kMaxDivisor) + " is not supported");
    }
    node_->multiple_of = divisor;
    return {};
  }

  // Arrays.

  Status read_items(std::string_view keyword, const JsonTree& value) {
    if (value.is(Kind::kArray)) return read_schemas(keyword, value, &node_->prefix_items);
    node_->items = child(value, keyword);
    return {};
  }
  Status read_prefix_items(std::string_view keyword, const JsonTree& value) {
    return read_schemas(keyword, value, &node_->prefix_items);
  }
  Status read_additional_items(std::string_view keyword, const JsonTree& value) {
    const JsonTree* items = tree_->find("items");
    if (items != nullptr && items->is(Kind::kArray)) node_->items = child(value, keyword);
    return {};
  }
  Status read_min_items(std::string_view keyword, const JsonTree& value) {
    return read_bound(keyword, value, &node_->num_items.min);
  }
  Status read_max_items(std::string_view keyword, const JsonTree& value) {
    return read_bound(keyword, value, &node_->num_items.max);
  }
  Status read_unique_items(std::string_view keyword, const JsonTree& value) {
    if (!value.is_bool()) return error(keyword, "must be a boolean");
    node_->has_unique_items = value.is(Kind::kTrue);
    return {};
  }

  // Objects.

  Status read_properties(std::string_view keyword, const JsonTree& value) {
    if (!value.is(Kind::kObject)) return error(keyword, "must be an object");
    const std::string pointer = pointer_to(node_->pointer, keyword);
    node_->lists_properties = true;
    for (const JsonTreeMember& member : value.members) {
      const SchemaId id = id_of(member.value, pointer_to(pointer, member.key));
      node_->properties.emplace_back(member.key, id);
      node_->property_index.emplace(member.key, id);
    }
    return {};
  }

  Status read_required(std::string_view keyword, const JsonTree& value) {
    if (value.is_bool()) return {};  // of draft 3; ajv refuses it, others take it as a comment
    if (!value.is(Kind::kArray)) return error(keyword, "must be an array of strings");
    for (const JsonTree& name : value.items) {
      if (!name.is(Kind::kString)) return error(keyword, "must be an array of strings");
      node_->required.push_back(name.text);
    }
    return {};
  }

  Status read_pattern_properties(std::string_view keyword, const JsonTree& value) {
    if (!value.is(Kind::kObject)) return error(keyword, "must be an object");
    const std::string pointer = pointer_to(node_->pointer, keyword);
    for (const JsonTreeMember& member : value.members) {
      auto pattern = compile_pattern(keyword, member.key);
      if (!pattern.ok()) return pattern.error();
      node_->pattern_properties.emplace_back(std::move(pattern).value(),
                                             id_of(member.value, pointer_to(pointer, member.key)));
    }
    return {};
  }

  Status read_additional_properties(std::string_view keyword, const JsonTree& value) {
    node_->additional_properties = child(value, keyword);
    return {};
  }
  Status read_property_names(std::string_view keyword, const JsonTree& value) {
    node_->property_names = child(value, keyword);
    return {};
  }
  Status read_min_properties(std::string_view keyword, const JsonTree& value) {
    return read_bound(keyword, value, &node_->num_properties.min);
  }
  Status read_max_properties(std::string_view keyword, const JsonTree& value) {
    return read_bound(keyword, value, &node_->num_properties.max);
  }

  // Assertions that are only supported where they say nothing, or nothing can meet them.

  Status read_not(std::string_view keyword, const JsonTree& value) {
    if (is_true_schema(value)) {
      node_->is_false = true;
      return {};
    }
    return value.is(Kind::kFalse) ? Status() : refuse(keyword, value);
  }

  Status read_then(std::string_view keyword, const JsonTree& value) {
    const bool says_nothing = tree_->find("if") == nullptr || is_true_schema(value);
    return says_nothing ? Status() : refuse(keyword, value);
  }

  Status read_unevaluated(std::string_view keyword, const JsonTree& value) {
    return is_true_schema(value) ? Status() : refuse(keyword, value);
  }

  Status read_dependent(std::string_view keyword, const JsonTree& value) {
    return is_empty_object(value) ? Status() : refuse(keyword, value);
  }

  Status refuse(std::string_view keyword, const JsonTree&) {
    return error(keyword, "is not supported");
  }

  /// $ref, allOf, anyOf and oneOf that lead back to where they stand say nothing about any value.
  Status check_loops() {
    enum class Visit : uint8_t { kNone, kOpen, kDone };
    std::vector<Visit> visits(document_.nodes_.size(), Visit::kNone);
    std::vector<std::pair<SchemaId, std::vector<SchemaId>>> path;  // node, what is left of it
    const auto open = [&](SchemaId id) {
      const SchemaNode& node = document_.node(id);
      std::vector<SchemaId> next = node.all_of;
      for (const SchemaOptions& alternatives : node.alternatives) {
        next.insert(next.end(), alternatives.options.begin(), alternatives.options.end());
      }
      visits[static_cast<size_t>(id)] = Visit::kOpen;
      path.emplace_back(id, std::move(next));
    };
    for (size_t start = 0; start < visits.size(); ++start) {
      if (visits[start] == Visit::kNone) open(static_cast<SchemaId>(start));
      while (!path.empty()) {
        auto& [id, next] = path.back();
        if (next.empty()) {
          visits[static_cast<size_t>(id)] = Visit::kDone;
          path.pop_back();
          continue;
        }
        const SchemaId target = next.back();
        next.pop_back();
        const Visit visit = visits[static_cast<size_t>(target)];
        if (visit == Visit::kOpen) {
          return document_.error_at(document_.node(target).pointer,
                                    "the schema refers to itself for the same value");
        }
        if (visit == Visit::kNone) open(target);
      }
    }
    return {};
  }

  const JsonTree& root_;
  const JsonTree no_keywords_ = {Kind::kTrue, {}, {}, {}};  // of a node that is read already
  SchemaDocument& document_;
  std::vector<const JsonTree*> trees_;  // by id
  std::unordered_map<const JsonTree*, SchemaId> ids_;
  std::unordered_map<std::string, std::shared_ptr<const CharDfa>> patterns_;
  const JsonTree* tree_ = nullptr;  // being read
  SchemaNode* node_ = nullptr;      // likewise
};

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

Result<std::unique_ptr<SchemaDocument>> SchemaDocument::read(const JsonTree& root,
                                                             std::string name) {
  std::unique_ptr<SchemaDocument> document(new SchemaDocument(std::move(name)));
  WL_RETURN_IF_ERROR(SchemaReader(root, document.get()).run());
  return document;
}

SchemaId SchemaDocument::absent(const std::string& key) {
  const auto known = absent_.find(key);
  if (known != absent_.end()) return known->second;
  const auto nothing = static_cast<SchemaId>(nodes_.size());
  nodes_.emplace_back().is_false = true;
  SchemaNode& node = nodes_.emplace_back();
  node.properties.emplace_back(key, nothing);
  node.property_index.emplace(key, nothing);
  return absent_.emplace(key, nothing + 1).first->second;
}

Error SchemaDocument::error_at(std::string_view pointer, const std::string& what) const {
  std::string where = name_.empty() ? "schema" : "schema " + quote_bytes(name_);
  if (!pointer.empty()) where += " at " + escape_bytes(std::string(pointer), 200);
  return {ErrorCode::kGrammar, where + ": " + what};
}

std::vector<SchemaId> schemas_of_property(const SchemaNode& node, const std::string& key) {
  std::vector<SchemaId> schemas;
  const auto found = node.property_index.find(key);
  if (found != node.property_index.end()) schemas.push_back(found->second);
  for (const auto& [pattern, schema] : node.pattern_properties) {
    if (pattern.strings->accepts(key)) schemas.push_back(schema);
  }
  if (schemas.empty() && node.additional_properties) {
    schemas.push_back(*node.additional_properties);
  }
  return schemas;
}

std::string pointer_to(std::string_view pointer, std::string_view step) {
  std::string out = std::string(pointer) + "/";
  for (const char c : step) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace wl::grammar
