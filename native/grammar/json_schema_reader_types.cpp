// The keywords of single types.

#include <algorithm>
#include <charconv>
#include <utility>

#include "grammar/json_pointer.h"
#include "grammar/json_schema_numbers.h"
#include "grammar/json_schema_reader.h"
#include "grammar/regex.h"

namespace wl::grammar {
namespace {

using Kind = JsonTree::Kind;

constexpr double kMaxBound = 4'000'000'000;  // of lengths and counts; more is as good as none

}  // namespace

// ---- Strings ----

Status SchemaReader::read_bound(std::string_view keyword, const JsonTree& value, uint32_t* out) {
  const auto number = value.is(Kind::kNumber) ? parse_decimal(value.text) : std::nullopt;
  if (!number || number->is_negative || !number->fraction.empty()) {
    return error(keyword, "must be an integer that is not negative");
  }
  double bound = 0;
  std::from_chars(number->integer.data(), number->integer.data() + number->integer.size(), bound);
  *out = static_cast<uint32_t>(std::min(bound, kMaxBound));
  return {};
}

Status SchemaReader::read_min_length(std::string_view keyword, const JsonTree& value) {
  return read_bound(keyword, value, &node_->length.min);
}

Status SchemaReader::read_max_length(std::string_view keyword, const JsonTree& value) {
  return read_bound(keyword, value, &node_->length.max);
}

Result<SchemaPattern> SchemaReader::compile_pattern(std::string_view keyword,
                                                    const std::string& text) {
  auto& strings = patterns_[text];
  if (strings == nullptr) {
    auto dfa = parse_regex(text, {.scope = RegexOptions::Scope::kSearch});
    if (!dfa.ok()) return error(keyword, quote_bytes(text) + " " + dfa.error().message);
    strings = std::make_shared<const CharDfa>(std::move(dfa).value());
  }
  return SchemaPattern{text, strings};
}

Status SchemaReader::read_pattern(std::string_view keyword, const JsonTree& value) {
  if (!value.is(Kind::kString)) return error(keyword, "must be a string");
  auto pattern = compile_pattern(keyword, value.text);
  if (!pattern.ok()) return pattern.error();
  node_->pattern = std::move(pattern).value();
  return {};
}

Status SchemaReader::read_format(std::string_view keyword, const JsonTree& value) {
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

// ---- Numbers ----

void SchemaReader::tighten(std::optional<NumberBound>* bound, Decimal value, bool is_exclusive,
                           int sign) {
  if (*bound) {
    const int order = sign * compare(value, (*bound)->value);
    if (order < 0 || (order == 0 && !is_exclusive)) return;
  }
  *bound = NumberBound{std::move(value), is_exclusive};
}

Status SchemaReader::read_minimum(std::string_view keyword, const JsonTree& value) {
  return read_number_bound(keyword, value, "exclusiveMinimum", &node_->min, 1);
}

Status SchemaReader::read_maximum(std::string_view keyword, const JsonTree& value) {
  return read_number_bound(keyword, value, "exclusiveMaximum", &node_->max, -1);
}

Status SchemaReader::read_number_bound(std::string_view keyword, const JsonTree& value,
                                       std::string_view exclusive,
                                       std::optional<NumberBound>* bound, int sign) {
  // In draft 4 the exclusive keyword is a boolean beside the bound.
  if (keyword == exclusive && value.is_bool()) return {};
  auto number = value.is(Kind::kNumber) ? parse_decimal(value.text) : std::nullopt;
  if (!number) return error(keyword, "must be a number");
  const JsonTree* flag = tree_->find(exclusive);
  const bool is_exclusive = keyword == exclusive || (flag != nullptr && flag->is(Kind::kTrue));
  tighten(bound, *std::move(number), is_exclusive, sign);
  return {};
}

Status SchemaReader::read_multiple_of(std::string_view keyword, const JsonTree& value) {
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

// ---- Arrays ----

Status SchemaReader::read_items(std::string_view keyword, const JsonTree& value) {
  if (value.is(Kind::kArray)) return read_schemas(keyword, value, &node_->prefix_items);
  node_->items = child(value, keyword);
  return {};
}

Status SchemaReader::read_prefix_items(std::string_view keyword, const JsonTree& value) {
  return read_schemas(keyword, value, &node_->prefix_items);
}

Status SchemaReader::read_additional_items(std::string_view keyword, const JsonTree& value) {
  const JsonTree* items = tree_->find("items");
  if (items != nullptr && items->is(Kind::kArray)) node_->items = child(value, keyword);
  return {};
}

Status SchemaReader::read_min_items(std::string_view keyword, const JsonTree& value) {
  return read_bound(keyword, value, &node_->num_items.min);
}

Status SchemaReader::read_max_items(std::string_view keyword, const JsonTree& value) {
  return read_bound(keyword, value, &node_->num_items.max);
}

Status SchemaReader::read_unique_items(std::string_view keyword, const JsonTree& value) {
  if (!value.is_bool()) return error(keyword, "must be a boolean");
  node_->has_unique_items = value.is(Kind::kTrue);
  return {};
}

// ---- Objects ----

Status SchemaReader::read_properties(std::string_view keyword, const JsonTree& value) {
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

Status SchemaReader::read_required(std::string_view keyword, const JsonTree& value) {
  if (value.is_bool()) return {};  // of draft 3; ajv refuses it, others take it as a comment
  if (!value.is(Kind::kArray)) return error(keyword, "must be an array of strings");
  for (const JsonTree& name : value.items) {
    if (!name.is(Kind::kString)) return error(keyword, "must be an array of strings");
    node_->required.push_back(name.text);
  }
  return {};
}

Status SchemaReader::read_pattern_properties(std::string_view keyword, const JsonTree& value) {
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

Status SchemaReader::read_additional_properties(std::string_view keyword, const JsonTree& value) {
  node_->additional_properties = child(value, keyword);
  return {};
}

Status SchemaReader::read_property_names(std::string_view keyword, const JsonTree& value) {
  node_->property_names = child(value, keyword);
  return {};
}

Status SchemaReader::read_min_properties(std::string_view keyword, const JsonTree& value) {
  return read_bound(keyword, value, &node_->num_properties.min);
}

Status SchemaReader::read_max_properties(std::string_view keyword, const JsonTree& value) {
  return read_bound(keyword, value, &node_->num_properties.max);
}

}  // namespace wl::grammar
