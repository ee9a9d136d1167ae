// The forms of a grammar spec, and what is refused of them.

#include "grammar/grammar_spec.h"

#include <string>

#include "grammar/spec_texts.h"

namespace wl::test {
namespace {

WL_TEST("specs of literals, sequences, choices and repeats derive their texts") {
  const SpecTexts texts(R"({"sequence": [
    {"literal": "a"},
    {"repeat": {"choice": [{"literal": "b"}, {"literal": "c"}]}, "min": 1, "max": 2},
    {"repeat": {"literal": "!"}}
  ]})");
  WL_CHECK_HAS(texts, "ab");
  WL_CHECK_HAS(texts, "acb!!");
  WL_CHECK_HAS_NOT(texts, "a");
  WL_CHECK_HAS_NOT(texts, "abbb");
}

WL_TEST("markers and free texts keep what they are made of") {
  const auto parsed = grammar::parse_grammar_spec(R"({"sequence": [
    {"marker": "<tool_call>"},
    {"text_until": "</think>", "excluding": ["<x>", "<y>"]},
    {"text": true, "excluding": ["<z>"]}
  ]})");
  WL_CHECK(parsed.ok());
  const grammar::Grammar& grammar = parsed.value();
  const auto& root = grammar.rules[static_cast<size_t>(grammar.root)]->node;
  const auto& parts = std::get<grammar::Sequence>(root).parts;
  WL_CHECK_EQ(std::get<grammar::Marker>(parts[0]->node).text, "<tool_call>");
  const auto& until = std::get<grammar::Text>(parts[1]->node);
  WL_CHECK_EQ(until.until, "</think>");
  WL_CHECK_EQ(until.excluding.size(), 2u);
  const auto& text = std::get<grammar::Text>(parts[2]->node);
  WL_CHECK(text.until.empty());
  WL_CHECK_EQ(text.excluding.size(), 1u);
}

WL_TEST("a regex spec matches whole texts of UTF-8") {
  const SpecTexts texts(R"({"regex": "a.|\\d{2}"})");
  WL_CHECK_HAS(texts, "aø");
  WL_CHECK_HAS(texts, "a\"");
  WL_CHECK_HAS(texts, "07");
  WL_CHECK_HAS_NOT(texts, "xab");
  WL_CHECK_HAS_NOT(texts, "a\n");
}

WL_TEST("schemas inside of other specs share one grammar") {
  const SpecTexts texts(R"({"choice": [
    {"sequence": [{"literal": "f"}, {"json_schema": {"type": "object"}}]},
    {"sequence": [{"literal": "g"}, {"json_schema": {"type": "array"}, "whitespace": "any"}]}
  ]})");
  WL_CHECK_HAS(texts, R"(f{"a": [1, {}]})");
  WL_CHECK_HAS(texts, R"(g[ {"a" : 1},2])");
  WL_CHECK_HAS_NOT(texts, R"(f{"a":1})");
  WL_CHECK_HAS_NOT(texts, "g{}");
}

WL_TEST("specs that are malformed are refused with the reason") {
  for (const char* spec :
       {"", "1", "{}", "{\"sequence\": 1}", "{\"sequence\": [1]}", "{\"literal\": 1}",
        "{\"literal\": \"a\", \"min\": 1}", "{\"repeat\": {\"literal\": \"a\"}, \"min\": -1}",
        "{\"repeat\": {\"literal\": \"a\"}, \"max\": \"2\"}", "{\"text\": false}",
        "{\"text_until\": \"\"}", "{\"text\": true, \"excluding\": [1]}", "{\"regex\": \"(\"}",
        "{\"regex\": \"[]\"}", "{\"json_schema\": 1}",
        "{\"json_schema\": {}, \"whitespace\": \"none\"}", "{\"json_schema\": {}, \"name\": 1}"}) {
    const std::string message = refusal(spec);
    WL_CHECK(message.starts_with("a grammar spec") || message.starts_with("regex") ||
             message.starts_with("schema"));
  }
}

WL_TEST("a spec that is nested too deeply is refused") {
  std::string spec = "{\"literal\": \"a\"}";
  for (int i = 0; i < 200; ++i) spec = "{\"sequence\": [" + spec + "]}";
  WL_CHECK(contains(refusal(spec), "nested too deeply"));
}

}  // namespace
}  // namespace wl::test
