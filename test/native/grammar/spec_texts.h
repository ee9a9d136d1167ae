#pragma once
// Which texts a grammar spec derives, tried without a vocabulary.

#include <string>
#include <string_view>

#include "check.h"
#include "grammar/grammar_checks.h"
#include "grammar/grammar_spec.h"
#include "grammar/test_grammar.h"

namespace wl::test {

/// A grammar and the texts it derives; a spec that is refused derives none.
class SpecTexts {
 public:
  explicit SpecTexts(const std::string& spec) {
    auto parsed = grammar::parse_grammar_spec(spec);
    if (!parsed.ok()) {
      report_failure(__FILE__, __LINE__, spec + ": " + parsed.error().message);
      return;
    }
    grammar_ = std::move(parsed).value();
    const Status status = grammar::check_rules(grammar_);
    if (!status.ok()) report_failure(__FILE__, __LINE__, spec + ": " + status.error().message);
  }

  bool has(std::string_view text) const {
    return !grammar_.rules.empty() && Derivation(grammar_, text).holds();
  }
  const grammar::Grammar& grammar() const { return grammar_; }

 private:
  grammar::Grammar grammar_;
};

inline SpecTexts schema_texts(const std::string& schema, const char* whitespace = "spaced") {
  return SpecTexts("{\"json_schema\":" + schema + ",\"whitespace\":\"" + whitespace + "\"}");
}

/// The message of a spec that must be refused.
inline std::string refusal(const std::string& spec) {
  const auto parsed = grammar::parse_grammar_spec(spec);
  if (parsed.ok()) {
    const Status status = grammar::check_rules(parsed.value());
    return status.ok() ? "not refused" : status.error().message;
  }
  if (parsed.error().code != ErrorCode::kGrammar) return "refused with another code";
  return parsed.error().message;
}

inline std::string schema_refusal(const std::string& schema) {
  return refusal("{\"json_schema\":" + schema + ",\"name\":\"tool\"}");
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace wl::test

/// Checks that name the text.
#define WL_CHECK_HAS(texts, text) \
  if (!(texts).has(text))         \
  ::wl::test::report_failure(__FILE__, __LINE__, std::string("lacks ") + (text))
#define WL_CHECK_HAS_NOT(texts, text) \
  if ((texts).has(text))              \
  ::wl::test::report_failure(__FILE__, __LINE__, std::string("has ") + (text))
