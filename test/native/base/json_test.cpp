#include "base/json.h"

#include "check.h"
#include "loader/expect_error.h"

using wl::parse_json;

WL_TEST("json: values of every kind") {
  const auto parsed = parse_json(
      R"( {"b":true,"i":-12,"x":1.5e2,"z":null,"s":"a\u00e9\ud83d\ude00\n","l":[1,[]]} )");
  WL_CHECK_EQ(wl::test::outcome(parsed), "ok");
  if (!parsed.ok()) return;
  const wl::JsonValue& value = parsed.value();
  WL_CHECK_EQ(value.find("b")->as_bool().value_or(false), true);
  WL_CHECK_EQ(value.find("i")->as_int().value_or(0), -12);
  WL_CHECK_EQ(value.find("i")->as_number().value_or(0), -12.0);
  WL_CHECK_EQ(value.find("x")->as_number().value_or(0), 150.0);
  WL_CHECK(!value.find("x")->as_int().has_value());
  WL_CHECK(value.find("z")->is_null());
  WL_CHECK_EQ(*value.find("s")->as_string(), "a\xc3\xa9\xf0\x9f\x98\x80\n");
  WL_CHECK_EQ(value.find("l")->as_array()->size(), size_t{2});
  WL_CHECK(value.find("absent") == nullptr);
  WL_CHECK(value.find("l")->find("b") == nullptr);
}

WL_TEST("json: integers are exact up to 64 bits, larger ones are doubles") {
  WL_CHECK_EQ(parse_json("9223372036854775807").value().as_int().value_or(0), INT64_MAX);
  WL_CHECK_EQ(parse_json("-9223372036854775808").value().as_int().value_or(0), INT64_MIN);
  const auto beyond = parse_json("9223372036854775808");
  WL_CHECK(!beyond.value().as_int().has_value());
  WL_CHECK_EQ(beyond.value().as_number().value_or(0), 0x1p63);
}

WL_TEST("json: what the grammar does not have is refused") {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[",
                           "[1",
                           "[1,]",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{\"a\" 1}",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "+1",
                           "NaN",
                           "Infinity",
                           "tru",
                           "nulll",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\x01\"",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "'a'",
                           "1 2",
                           "{}{}",
                           "// c\n1",
                           "1e999",
                           "[1 2]"}) {
    WL_EXPECT_ERROR(parse_json(text), "ERR_MODEL_FORMAT", "JSON: ");
  }
}

WL_TEST("json: duplicate keys are refused, also when escaped differently") {
  WL_EXPECT_ERROR(parse_json(R"({"a":1,"\u0061":2})"), "ERR_MODEL_FORMAT", "duplicate key \"a\"");
}

WL_TEST("json: depth and number of values are bounded") {
  WL_CHECK(parse_json(std::string(64, '[') + std::string(64, ']')).ok());
  WL_EXPECT_ERROR(parse_json(std::string(65, '[') + std::string(65, ']')), "ERR_MODEL_FORMAT",
                  "nested too deeply");
  WL_EXPECT_ERROR(parse_json(std::string(1000000, '{')), "ERR_MODEL_FORMAT", "expected a key");
  WL_CHECK(parse_json("[1,2,3]", {.max_depth = 8, .max_nodes = 4}).ok());
  WL_EXPECT_ERROR(parse_json("[1,2,3,4]", {.max_depth = 8, .max_nodes = 4}), "ERR_MODEL_FORMAT",
                  "too many values");
}
