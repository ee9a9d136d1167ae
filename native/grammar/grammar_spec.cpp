#include "grammar/grammar_spec.h"

#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_tree.h"
#include "grammar/encoded_dfa.h"
#include "grammar/json_escape.h"
#include "grammar/json_schema.h"
#include "grammar/lark.h"
#include "grammar/regex.h"

namespace wl::grammar {
namespace {

using Kind = JsonTree::Kind;

/// Schemas are nested in specs; each level of either is some stack frames.
constexpr JsonLimits kLimits = {.max_depth = 128, .max_nodes = 1 << 19};

Error malformed(const std::string& what) { return {ErrorCode::kGrammar, "a grammar spec " + what}; }

class SpecReader {
 public:
  Result<Grammar> run(const JsonTree& spec) {
    auto root = expr_of(spec);
    if (!root.ok()) return root.error();
    grammar_.root = static_cast<int32_t>(grammar_.rules.size());
    grammar_.rules.push_back(std::move(root).value());
    return std::move(grammar_);
  }

 private:
  using Reader = Result<ExprPtr> (SpecReader::*)(const JsonTree& spec, const JsonTree& value);
  struct Form {
    std::string_view key;
    Reader read;
    std::array<std::string_view, 2> options;  // keys that may stand beside it
  };
  static const std::array<Form, 11> kForms;

  Result<ExprPtr> expr_of(const JsonTree& spec) {
    if (!spec.is(Kind::kObject)) return malformed("must be an object");
    for (const Form& form : kForms) {
      const JsonTree* value = spec.find(form.key);
      if (value == nullptr) continue;
      for (const JsonTreeMember& member : spec.members) {
        if (member.key != form.key && member.key != form.options[0] &&
            member.key != form.options[1]) {
          return malformed("of a " + std::string(form.key) + " has no " + quote_bytes(member.key));
        }
      }
      return (this->*form.read)(spec, *value);
    }
    return malformed("is of no known form");
  }

  static Result<std::string> string_of(std::string_view key, const JsonTree& value) {
    if (value.is(Kind::kString)) return value.text;
    return malformed("has a " + std::string(key) + " that is not a string");
  }

  Result<ExprPtr> read_literal(const JsonTree&, const JsonTree& value) {
    auto text = string_of("literal", value);
    if (!text.ok()) return text.error();
    return literal(std::move(text).value());
  }

  Result<ExprPtr> read_marker(const JsonTree&, const JsonTree& value) {
    auto text = string_of("marker", value);
    if (!text.ok()) return text.error();
    return marker(std::move(text).value());
  }

  Result<std::vector<ExprPtr>> parts_of(std::string_view key, const JsonTree& value) {
    if (!value.is(Kind::kArray))
      return malformed("needs an array of specs for " + std::string(key));
    std::vector<ExprPtr> parts;
    for (const JsonTree& item : value.items) {
      auto part = expr_of(item);
      if (!part.ok()) return part.error();
      parts.push_back(std::move(part).value());
    }
    return parts;
  }

  Result<ExprPtr> read_sequence(const JsonTree&, const JsonTree& value) {
    auto parts = parts_of("sequence", value);
    if (!parts.ok()) return parts.error();
    return sequence(std::move(parts).value());
  }

  Result<ExprPtr> read_choice(const JsonTree&, const JsonTree& value) {
    auto options = parts_of("choice", value);
    if (!options.ok()) return options.error();
    return choice(std::move(options).value());
  }

  Result<ExprPtr> read_repeat(const JsonTree& spec, const JsonTree& value) {
    auto part = expr_of(value);
    if (!part.ok()) return part;
    const auto min = bound_of(spec, "min", 0);
    if (!min.ok()) return min.error();
    const auto max = bound_of(spec, "max", Repeat::kUnbounded);
    if (!max.ok()) return max.error();
    return repeat(std::move(part).value(), min.value(), max.value());
  }

  static Result<uint32_t> bound_of(const JsonTree& spec, std::string_view key, uint32_t absent) {
    const JsonTree* value = spec.find(key);
    if (value == nullptr) return absent;
    uint32_t bound = 0;
    const char* const end = value->text.data() + value->text.size();
    const bool is_number =
        value->is(Kind::kNumber) && std::from_chars(value->text.data(), end, bound).ptr == end;
    if (is_number) return bound;
    return malformed("of a repeat has a bound that is not a number from 0 to 2^32 - 1");
  }

  Result<ExprPtr> read_json_schema(const JsonTree& spec, const JsonTree& value) {
    JsonSchemaOptions options;
    if (const JsonTree* whitespace = spec.find("whitespace")) {
      if (whitespace->text == "any") {
        options.whitespace = JsonWhitespace::kAny;
      } else if (whitespace->text != "spaced") {
        return malformed("has a whitespace that is neither spaced nor any");
      }
    }
    if (const JsonTree* name = spec.find("name")) {
      auto text = string_of("name", *name);
      if (!text.ok()) return text.error();
      options.name = std::move(text).value();
    }
    return json_schema_expr(value, options, &grammar_);
  }

  Result<ExprPtr> read_regex(const JsonTree&, const JsonTree& value) {
    const auto pattern = string_of("regex", value);
    if (!pattern.ok()) return pattern.error();
    const auto dfa = parse_regex(pattern.value());
    if (!dfa.ok()) {
      return {ErrorCode::kGrammar,
              "regex " + quote_bytes(pattern.value()) + " " + dfa.error().message};
    }
    if (dfa.value().is_empty()) {
      return {ErrorCode::kGrammar, "regex " + quote_bytes(pattern.value()) + " matches no text"};
    }
    return match(std::make_shared<const ByteDfa>(encoded_dfa(dfa.value())));
  }

  Result<ExprPtr> read_lark(const JsonTree&, const JsonTree& value) {
    const auto definition = string_of("lark", value);
    if (!definition.ok()) return definition.error();
    return lark_expr(definition.value(), &grammar_);
  }

  Result<ExprPtr> read_in_json_string(const JsonTree&, const JsonTree& value) {
    const auto inner = SpecReader().run(value);
    if (!inner.ok()) return inner.error();
    return in_json_string(inner.value(), grammar_);
  }

  static Result<std::vector<std::string>> excluded_of(const JsonTree& spec) {
    std::vector<std::string> excluding;
    const JsonTree* value = spec.find("excluding");
    if (value == nullptr) return excluding;
    if (!value->is(Kind::kArray)) return malformed("needs an array of markers for excluding");
    for (const JsonTree& item : value->items) {
      auto text = string_of("marker", item);
      if (!text.ok()) return text.error();
      excluding.push_back(std::move(text).value());
    }
    return excluding;
  }

  Result<ExprPtr> read_text_until(const JsonTree& spec, const JsonTree& value) {
    auto until = string_of("text_until", value);
    if (!until.ok()) return until.error();
    if (until.value().empty()) return malformed("has an empty text_until");
    auto excluding = excluded_of(spec);
    if (!excluding.ok()) return excluding.error();
    return text(std::move(until).value(), std::move(excluding).value());
  }

  Result<ExprPtr> read_text(const JsonTree& spec, const JsonTree& value) {
    if (!value.is(Kind::kTrue)) return malformed("has a text that is not true");
    auto excluding = excluded_of(spec);
    if (!excluding.ok()) return excluding.error();
    return text({}, std::move(excluding).value());
  }

  Grammar grammar_;
};

const std::array<SpecReader::Form, 11> SpecReader::kForms = {{
    {"literal", &SpecReader::read_literal, {}},
    {"marker", &SpecReader::read_marker, {}},
    {"sequence", &SpecReader::read_sequence, {}},
    {"choice", &SpecReader::read_choice, {}},
    {"repeat", &SpecReader::read_repeat, {"min", "max"}},
    {"json_schema", &SpecReader::read_json_schema, {"whitespace", "name"}},
    {"regex", &SpecReader::read_regex, {}},
    {"lark", &SpecReader::read_lark, {}},
    {"in_json_string", &SpecReader::read_in_json_string, {}},
    {"text_until", &SpecReader::read_text_until, {"excluding"}},
    {"text", &SpecReader::read_text, {"excluding"}},
}};

}  // namespace

Result<Grammar> parse_grammar_spec(std::string_view spec) {
  const auto tree = parse_json_tree(spec, kLimits);
  if (!tree.ok()) return {ErrorCode::kGrammar, "a grammar spec: " + tree.error().message};
  return SpecReader().run(tree.value());
}

}  // namespace wl::grammar
