// JSON Schemas as grammars: which JSON texts they derive.

#include "grammar/json_schema.h"

#include <string>

#include "grammar/spec_texts.h"

namespace wl::test {
namespace {

/// A JSON string of that many characters.
std::string string_of(size_t length) {
  std::string text(length + 2, 'a');
  text.front() = text.back() = '"';
  return text;
}

WL_TEST("any JSON value, in the two forms of white space") {
  const SpecTexts spaced = schema_texts("true");
  for (const char* text : {"1", "-0.5e+10", "\"a\\u00e9\\n\"", "true", "null", "[]", "{}",
                           R"({"a": [1, {"b": false}], "c": ""})"}) {
    WL_CHECK_HAS(spaced, text);
  }
  for (const char* text : {"", "01", "tru", "[1,2]", "{\"a\":1}", " 1", "\"\n\"", "\"\\ud800\"",
                           "[1 , 2]", "[1, ]", "{,}", "{1: 2}"}) {
    WL_CHECK_HAS_NOT(spaced, text);
  }
  const SpecTexts any = schema_texts("{}", "any");
  WL_CHECK_HAS(any, "[1,2]");
  WL_CHECK_HAS(any, "{ \"a\"\n:\t1 ,\"b\":[ ] }");
  WL_CHECK_HAS(any, "{        }");
  WL_CHECK_HAS_NOT(any, "{         }");
  WL_CHECK_HAS_NOT(any, "1 ");
}

WL_TEST("members come in the order of the schema, optional ones may be left out") {
  const SpecTexts texts = schema_texts(R"({"type": "object", "properties": {
      "z": {"type": "integer"}, "a": {"type": "boolean"}, "m": {"type": "null"}},
      "required": ["a"], "additionalProperties": false})");
  WL_CHECK_HAS(texts, R"({"z": 1, "a": true, "m": null})");
  WL_CHECK_HAS(texts, R"({"a": false})");
  WL_CHECK_HAS(texts, R"({"a": false, "m": null})");
  WL_CHECK_HAS_NOT(texts, R"({"z": 1})");
  WL_CHECK_HAS_NOT(texts, R"({"a": true, "z": 1})");
  WL_CHECK_HAS_NOT(texts, R"({"a": true, "x": 1})");
  WL_CHECK_HAS_NOT(texts, R"({"a": true, })");
}

WL_TEST("additional members follow with keys that are not declared, in no spelling") {
  const SpecTexts texts = schema_texts(
      R"({"properties": {"ab": {}, "é": {}}, "type": "object", "additionalProperties": {"type": "integer"}})");
  WL_CHECK_HAS(texts, R"({"x": 1, "a": 2, "abc": 3, "": 4})");
  WL_CHECK_HAS(texts, R"({"ab": "s", "b\n\u0001\u00e9": 1})");
  WL_CHECK_HAS_NOT(texts, R"({"x": "s"})");
  WL_CHECK_HAS_NOT(texts, R"({"x": 1, "ab": 1})");
  WL_CHECK_HAS_NOT(texts, R"({"x": 1, "\u0061b": 1})");
  WL_CHECK_HAS_NOT(texts, R"({"x": 1, "a\u0062": 1})");
}

WL_TEST("required members that are not declared come behind those that are") {
  const SpecTexts texts = schema_texts(
      R"({"type": "object", "properties": {"a": {}}, "required": ["b"], "additionalProperties": {"type": "integer"}})");
  WL_CHECK_HAS(texts, R"({"a": "x", "b": 1, "c": 2})");
  WL_CHECK_HAS_NOT(texts, R"({"a": "x"})");
  WL_CHECK_HAS_NOT(texts, R"({"b": "x"})");
}

WL_TEST("the number of members is bounded") {
  const SpecTexts two = schema_texts(
      R"({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "minProperties": 1, "maxProperties": 2, "additionalProperties": false})");
  WL_CHECK_HAS(two, R"({"a": 1})");
  WL_CHECK_HAS(two, R"({"b": 1, "c": 2})");
  WL_CHECK_HAS_NOT(two, "{}");
  WL_CHECK_HAS_NOT(two, R"({"a": 1, "b": 1, "c": 2})");
  const SpecTexts free = schema_texts(
      R"({"type": "object", "minProperties": 1, "maxProperties": 3, "additionalProperties": {"type": "null"}})");
  WL_CHECK_HAS(free, R"({"a": null})");
  WL_CHECK_HAS(free, R"({"a": null, "b": null, "c": null})");
  WL_CHECK_HAS_NOT(free, "{}");
  WL_CHECK_HAS_NOT(free, R"({"a": null, "b": null, "c": null, "d": null})");
}

WL_TEST("patternProperties and propertyNames say which keys have which values") {
  const SpecTexts texts = schema_texts(R"({"type": "object",
      "properties": {"x1": {"minimum": 5}},
      "patternProperties": {"^x": {"type": "integer"}, "\\d$": {"maximum": 9}},
      "propertyNames": {"maxLength": 3}, "additionalProperties": false})");
  WL_CHECK_HAS(texts, R"({"x1": 7, "xa": 12, "x2": 8, "a9": 1})");
  WL_CHECK_HAS(texts, R"({"a9": "no number"})");
  WL_CHECK_HAS_NOT(texts, R"({"x1": 4})");
  WL_CHECK_HAS_NOT(texts, R"({"x1": 10})");
  WL_CHECK_HAS_NOT(texts, R"({"x2": 10})");
  WL_CHECK_HAS_NOT(texts, R"({"xa": 1.5})");
  WL_CHECK_HAS_NOT(texts, R"({"ab": 1})");
  WL_CHECK_HAS_NOT(texts, R"({"xabc": 1})");
}

WL_TEST("items of arrays: each, by place, and how many") {
  const SpecTexts each = schema_texts(
      R"({"type": "array", "items": {"enum": [0, 1]}, "minItems": 2, "maxItems": 1000})");
  WL_CHECK_HAS(each, "[0, 1]");
  WL_CHECK_HAS(each, "[0, 1, 1, 0]");
  WL_CHECK_HAS_NOT(each, "[0]");
  WL_CHECK_HAS_NOT(each, "[0, 2]");
  const SpecTexts places = schema_texts(
      R"({"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "items": false, "minItems": 1})");
  WL_CHECK_HAS(places, R"(["a"])");
  WL_CHECK_HAS(places, R"(["a", null])");
  WL_CHECK_HAS_NOT(places, "[]");
  WL_CHECK_HAS_NOT(places, R"([null])");
  WL_CHECK_HAS_NOT(places, R"(["a", null, 1])");
  const SpecTexts none = schema_texts(R"({"type": "array", "maxItems": 0})", "any");
  WL_CHECK_HAS(none, "[]");
  WL_CHECK_HAS(none, "[ ]");
  WL_CHECK_HAS_NOT(none, "[1]");
}

WL_TEST("lengths of strings count characters, an escape as one") {
  const SpecTexts texts = schema_texts(R"({"type": "string", "minLength": 2, "maxLength": 3})");
  WL_CHECK_HAS(texts, R"("ab")");
  WL_CHECK_HAS(texts, R"("é\n😀")");
  WL_CHECK_HAS(texts, R"("\ud83d\ude00a")");
  WL_CHECK_HAS_NOT(texts, R"("a")");
  WL_CHECK_HAS_NOT(texts, R"("\ud83d\ude00")");
  WL_CHECK_HAS_NOT(texts, R"("abcd")");
  WL_CHECK_HAS(schema_texts(R"({"type": "string", "maxLength": 65536})"), R"("")");
}

WL_TEST("patterns are searched for and hold together with lengths and formats") {
  const SpecTexts digit = schema_texts(R"({"type": "string", "pattern": "\\d", "maxLength": 3})");
  WL_CHECK_HAS(digit, R"("1")");
  WL_CHECK_HAS(digit, R"("a\"1")");
  WL_CHECK_HAS_NOT(digit, R"("ab")");
  WL_CHECK_HAS_NOT(digit, R"("abc1")");
  const SpecTexts letters =
      schema_texts(R"({"type": "string", "pattern": "^[a-c]+$", "minLength": 2, "maxLength": 3})");
  WL_CHECK_HAS(letters, R"("abc")");
  WL_CHECK_HAS_NOT(letters, R"("a")");
  WL_CHECK_HAS_NOT(letters, R"("abca")");
  const SpecTexts date = schema_texts(R"({"type": "string", "format": "date", "pattern": "^20"})");
  WL_CHECK_HAS(date, R"("2024-02-29")");
  WL_CHECK_HAS_NOT(date, R"("2023-02-29")");
  WL_CHECK_HAS_NOT(date, R"("1999-01-01")");
}

WL_TEST("a pattern with a large maximum length is counted at run time") {
  const SpecTexts texts = schema_texts(
      R"({"type": "string", "pattern": "^x-[a-z]+$", "minLength": 4, "maxLength": 65536})");
  WL_CHECK_HAS(texts, R"("x-ab")");
  WL_CHECK_HAS(texts, R"("x-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")");
  WL_CHECK_HAS_NOT(texts, R"("x-a")");
  WL_CHECK_HAS_NOT(texts, R"("x-aB")");
  const SpecTexts bounded =
      schema_texts(R"({"type": "string", "pattern": "^x?[a-z]*$", "maxLength": 5000})");
  WL_CHECK_HAS(bounded, string_of(5000));
  WL_CHECK_HAS_NOT(bounded, string_of(5001));
}

WL_TEST("constrained strings are written as JSON.stringify does") {
  const SpecTexts texts = schema_texts(R"({"enum": ["\"\\\n\u0001\u007f/é"]})");
  WL_CHECK_HAS(texts, "\"\\\"\\\\\\n\\u0001\x7f/é\"");
  const SpecTexts pattern = schema_texts(R"({"type": "string", "pattern": "^[\\x00-\\x1f\"]$"})");
  WL_CHECK_HAS(pattern, R"("\u001f")");
  WL_CHECK_HAS(pattern, R"("\t")");
  WL_CHECK_HAS(pattern, R"("\"")");
  WL_CHECK_HAS_NOT(pattern, R"("\u0009")");
}

WL_TEST("numbers keep their bounds") {
  const SpecTexts integer = schema_texts(R"({"type": "integer", "minimum": -12, "maximum": 120})");
  for (const char* text : {"-12", "-9", "0", "7", "99", "120"}) WL_CHECK_HAS(integer, text);
  for (const char* text : {"-13", "-0", "00", "121", "1.0", "1e1"}) WL_CHECK_HAS_NOT(integer, text);
  const SpecTexts number =
      schema_texts(R"({"type": "number", "exclusiveMinimum": 0, "maximum": 1.5})");
  for (const char* text : {"1", "1.5", "1.50", "0.1", "0.0001", "1.49999"})
    WL_CHECK_HAS(number, text);
  for (const char* text : {"0", "0.0", "1.51", "2", "-1", "1.", ".5"})
    WL_CHECK_HAS_NOT(number, text);
  const SpecTexts divided = schema_texts(R"({"type": "number", "multipleOf": 15, "minimum": 16})");
  WL_CHECK_HAS(divided, "30");
  WL_CHECK_HAS_NOT(divided, "15");
  WL_CHECK_HAS_NOT(divided, "31");
  WL_CHECK_HAS(schema_texts(R"({"type": "integer", "format": "int32"})"), "2147483647");
  WL_CHECK_HAS_NOT(schema_texts(R"({"type": "integer", "format": "int32"})"), "2147483648");
  WL_CHECK_HAS_NOT(schema_texts(R"({"type": "integer", "exclusiveMaximum": 10})"), "10");
  WL_CHECK_HAS(schema_texts(R"({"type": "integer", "exclusiveMinimum": -3.5})"), "-3");
}

WL_TEST("enum and const: values that the other keywords allow") {
  const SpecTexts texts = schema_texts(
      R"({"enum": ["a", "bb", 1, 2.5, null, [1, {"x": true}]], "maxLength": 1, "minimum": 2})");
  for (const char* text : {"\"a\"", "2.5", "null", R"([1, {"x": true}])"})
    WL_CHECK_HAS(texts, text);
  for (const char* text : {"\"bb\"", "1", "[]"}) WL_CHECK_HAS_NOT(texts, text);
  const SpecTexts any = schema_texts(R"({"const": {"a": [1, 2], "b": {}}})", "any");
  WL_CHECK_HAS(any, R"({"a":[1 ,2], "b": { }})");
  const SpecTexts both = schema_texts(R"({"enum": [1, "x"], "const": 1.0})");
  WL_CHECK_HAS(both, "1");
  WL_CHECK_HAS_NOT(both, "\"x\"");
}

WL_TEST("anyOf, allOf and references hold with what stands beside them") {
  const SpecTexts any = schema_texts(
      R"({"anyOf": [{"type": "string", "enum": ["todo", "done"]}, {"type": "string", "const": "gone"}, {"type": "integer"}], "maximum": 5})");
  for (const char* text : {"\"todo\"", "\"gone\"", "5"}) WL_CHECK_HAS(any, text);
  WL_CHECK_HAS_NOT(any, "6");
  WL_CHECK_HAS_NOT(any, "\"other\"");
  const SpecTexts all = schema_texts(R"({"allOf": [
      {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
      {"properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "null"}}}],
      "properties": {"a": {"minimum": 3}}, "additionalProperties": true, "maxProperties": 2})");
  WL_CHECK_HAS(all, R"({"a": 3})");
  WL_CHECK_HAS(all, R"({"a": 3, "b": null})");
  WL_CHECK_HAS_NOT(all, R"({"a": 2})");
  WL_CHECK_HAS_NOT(all, R"({"a": 3.5})");
  WL_CHECK_HAS_NOT(all, R"({"b": null})");
  const SpecTexts ref = schema_texts(
      R"({"$ref": "#/$defs/a~1b%20c", "maxLength": 2, "$defs": {"a/b c": {"type": "string"}}})");
  WL_CHECK_HAS(ref, "\"ab\"");
  WL_CHECK_HAS_NOT(ref, "\"abc\"");
}

WL_TEST("a recursive schema derives values of any depth") {
  const SpecTexts texts = schema_texts(R"({"$ref": "#/$defs/n", "$defs": {
      "n": {"type": "object", "properties": {"c": {"$ref": "#/$defs/col"},
            "k": {"type": "array", "items": {"$ref": "#/$defs/n"}, "maxItems": 2}},
            "required": ["c", "k"], "additionalProperties": false},
      "col": {"enum": ["red", "blue"]}}})");
  WL_CHECK_HAS(texts, R"({"c": "red", "k": []})");
  WL_CHECK_HAS(texts, R"({"c": "red", "k": [{"c": "blue", "k": []}, {"c": "red", "k": []}]})");
  WL_CHECK_HAS_NOT(texts, R"({"c": "green", "k": []})");
  WL_CHECK_HAS_NOT(texts, R"({"c": "red", "k": [{"c": "blue"}]})");
}

WL_TEST("oneOf with options that exclude each other is a choice, else it is refused") {
  const SpecTexts tagged = schema_texts(R"({"type": "object", "oneOf": [
      {"properties": {"t": {"const": "a"}, "x": {"type": "null"}}, "required": ["t"]},
      {"properties": {"t": {"const": "b"}}, "required": ["t"], "additionalProperties": false}]})");
  WL_CHECK_HAS(tagged, R"({"t": "a", "x": null})");
  WL_CHECK_HAS(tagged, R"({"t": "b"})");
  WL_CHECK_HAS_NOT(tagged, R"({"t": "b", "x": 1})");
  WL_CHECK_HAS_NOT(tagged, R"({"t": "c"})");
  const SpecTexts keys = schema_texts(R"({"oneOf": [
      {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": false},
      {"type": "object", "properties": {"b": {}}, "required": ["b"], "additionalProperties": false}]})");
  WL_CHECK_HAS(keys, R"({"a": 1})");
  WL_CHECK_HAS_NOT(keys, R"({"a": 1, "b": 1})");
  WL_CHECK(contains(
      schema_refusal(
          R"({"properties": {"x": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}})"),
      "schema \"tool\" at /properties/x/oneOf/0: oneOf"));
}

WL_TEST("where members are listed others are written only if the schema speaks of them") {
  const char* const more = R"({"a": 1, "more": 1})";
  WL_CHECK_HAS_NOT(schema_texts(R"({"type": "object", "properties": {"a": {}}})"), more);
  WL_CHECK_HAS_NOT(schema_texts(R"({"type": "object", "properties": {}})"), R"({"more": 1})");
  WL_CHECK_HAS(schema_texts(R"({"type": "object"})"), R"({"more": 1})");
  WL_CHECK_HAS(
      schema_texts(R"({"type": "object", "properties": {"a": {}}, "additionalProperties": true})"),
      more);
  WL_CHECK_HAS(
      schema_texts(R"({"type": "object", "properties": {"a": {}}, "required": ["a", "more"]})"),
      more);
}

WL_TEST("options of a oneOf that differ in what they require exclude each other's members") {
  const SpecTexts texts = schema_texts(R"({"type": "object", "oneOf": [
      {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
      {"properties": {"t": {"const": "x"}, "b": {"type": "integer"}}, "required": ["b"]},
      {"properties": {"t": {"const": "y"}}, "required": ["t"]}], "additionalProperties": true})");
  WL_CHECK_HAS(texts, R"({"a": 1})");
  WL_CHECK_HAS(texts, R"({"t": "x", "b": 1})");
  WL_CHECK_HAS(texts, R"({"t": "y"})");
  WL_CHECK_HAS_NOT(texts, R"({"a": 1, "b": 1})");
  WL_CHECK_HAS_NOT(texts, R"({"a": 1, "t": "y"})");
  WL_CHECK_HAS(texts, R"({"t": "y", "b": 1})");
}

WL_TEST("thousands of enum values compile to one automaton") {
  std::string schema = "{\"enum\": [";
  for (int i = 100'000; i < 105'000; ++i) {
    schema.append("\"code-").append(std::to_string(i)).append(i < 104'999 ? "-ø\"," : "-ø\"]}");
  }
  const SpecTexts texts = schema_texts(schema);
  WL_CHECK_HAS(texts, "\"code-104999-ø\"");
  WL_CHECK_HAS_NOT(texts, "\"code-105000-ø\"");
}

WL_TEST("what a schema says wrongly, or cannot be enforced, is refused at its place") {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type": "objekt"})", "schema \"tool\": type"},
      {R"({"properties": {"a": {"pattern": "^(open[$"}}})", "at /properties/a: pattern"},
      {R"({"properties": {"a": {"pattern": "^(?<=x)y$"}}})", "look-behind"},
      {R"({"properties": {"a/b": {"not": {"type": "string"}}}})", "at /properties/a~1b: not"},
      {R"({"items": {"contains": {}}})", "at /items: contains"},
      {R"({"type": "array", "uniqueItems": true})", "uniqueItems"},
      {R"({"if": {"type": "string"}, "then": {"minLength": 1}})", "then"},
      {R"({"$ref": "other.json"})", "$ref"},
      {R"({"$ref": "#/$defs/none"})", "points to nothing"},
      {R"({"items": {"$id": "other", "$ref": "#/$defs/a"}, "$defs": {"a": {}}})",
       "schema \"tool\" at /items: $id"},
      {R"({"$ref": "#/$defs/a/items", "$defs": {"a": {"$id": "other", "items": {}}}})",
       "points into a schema with a $id"},
      {R"({"$ref": "#"})", "refers to itself"},
      {R"({"anyOf": [{"$ref": "#"}, {"type": "string"}]})", "refers to itself"},
      {R"({"minLength": -1})", "minLength"},
      {R"({"enum": 1})", "enum"},
      {R"({"required": [1]})", "required"},
      {R"({"items": 5})", "at /items: a schema must be"},
      {R"({"type": "string", "format": "regex"})", "format"},
      {R"({"type": "string", "enum": [1]})", "no value can meet it"},
      {R"({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]})",
       "no value can meet it"},
      {R"({"type": "object", "minProperties": 2})", "minProperties"},
      {R"({"type": "string", "pattern": "^([a-z]+-)+x$", "minLength": 60000})",
       "pattern or format with minLength or maxLength"}};
  for (const auto& [schema, reason] : cases) {
    const std::string message = schema_refusal(schema);
    if (!contains(message, reason))
      report_failure(__FILE__, __LINE__, std::string(schema) + ": " + message);
  }
}

WL_TEST("the root may have a $id, and a property may be called so") {
  const SpecTexts texts = schema_texts(
      R"({"$id": "https://example.com/a", "properties": {"$id": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"const": 1}}, "required": ["$id"]})");
  WL_CHECK_HAS(texts, R"({"$id": 1})");
  WL_CHECK_HAS_NOT(texts, R"({"$id": 2})");
}

WL_TEST("annotations, unknown keywords and unused definitions are ignored") {
  const SpecTexts texts = schema_texts(
      R"({"type": "null", "description": "d", "x-order": 1, "examples": [1], "format": "nonsense", "if": {}, "not": false, "$defs": {"unused": {"not": {"type": "null"}}}})");
  WL_CHECK_HAS(texts, "null");
}

}  // namespace
}  // namespace wl::test
