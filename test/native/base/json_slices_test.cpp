#include "base/json_slices.h"

#include "check.h"

namespace {

/// A cursor that keeps its own strings.
struct Walk {
  explicit Walk(std::string_view text) : cursor(text, &unescaped) {}
  std::deque<std::string> unescaped;
  wl::JsonCursor cursor;
};

std::string outcome(const wl::Status& walked, Walk* walk, const std::string& out) {
  if (!walked.ok()) return walked.error().message;
  const wl::Status end = walk->cursor.check_end();
  return end.ok() ? out : end.error().message;
}

wl::Status append_value(Walk* walk, std::string* out) {
  const auto value = walk->cursor.take_value();
  if (!value.ok()) return value.error();
  *out += std::string(value.value()) + ";";
  return {};
}

/// Members as "key=value;", or the error's message.
std::string members(std::string_view text) {
  std::string out;
  Walk walk(text);
  const wl::Status walked = walk.cursor.for_each_member([&](std::string_view key) {
    out += std::string(key) + "=";
    return append_value(&walk, &out);
  });
  return outcome(walked, &walk, out);
}

std::string elements(std::string_view text) {
  std::string out;
  Walk walk(text);
  const wl::Status walked = walk.cursor.for_each_element([&] { return append_value(&walk, &out); });
  return outcome(walked, &walk, out);
}

}  // namespace

WL_TEST("json slices: members and elements come as they stand in the text") {
  WL_CHECK_EQ(members(R"( {"a" : [1, {"b": "]}"}] , "\u0063\"": -1.5e3 , "d":null} )"),
              std::string(R"(a=[1, {"b": "]}"}];c"=-1.5e3;d=null;)"));
  WL_CHECK_EQ(elements(R"([ "x\\", "\"" ,[],true])"), std::string(R"("x\\";"\"";[];true;)"));
  WL_CHECK_EQ(members("{}") + elements(" [ ] "), std::string());
  WL_CHECK_EQ(elements("[\n                 1,\r\n\t        2\n        ]"), std::string("1;2;"));
}

WL_TEST("json slices: cut and mangled texts are errors") {
  for (const char* text : {"", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":\"x",
                           "{\"a\":\"x\\", "{\"a\":[1", "{a:1}", "{\"a\" 1}", "{\"a\":}", "{} x",
                           "[]", "{\"a\":1 \"b\":2}", "{\"\xff\":1}"}) {
    WL_CHECK(members(text).starts_with("JSON: "));
  }
  for (const char* text : {"[", "[1", "[1,", "[,1]", "[1,]", "[1] 2", "{}", "[\""}) {
    WL_CHECK(elements(text).starts_with("JSON: "));
  }
}

WL_TEST("json slices: a string has its escapes undone, anything else is no string") {
  const auto taken = [](std::string_view text) {
    Walk walk(text);
    const auto string = walk.cursor.take_string();
    return string.ok() ? std::string(string.value()) : string.error().message;
  };
  WL_CHECK_EQ(taken("\"a\\n\""), std::string("a\n"));
  WL_CHECK_EQ(taken(" \"\\\"\xc3\xa9\" "), std::string("\"\xc3\xa9"));
  WL_CHECK_EQ(taken("\"\xc3\xa9\""), std::string("\xc3\xa9"));
  WL_CHECK_EQ(taken("\"\""), std::string());
  for (const char* text :
       {"", "1", "\"", "\"a\nb\"", "\"\\x\"", "\"\\n", "\"\xc3\"", "null", "[]"}) {
    WL_CHECK(taken(text).starts_with("JSON: "));
  }
}

WL_TEST("json slices: strings outlive the cursor, and a copy of it goes on from its place") {
  std::deque<std::string> unescaped;
  wl::JsonCursor cursor(R"(["\t1", "2"] 3)", &unescaped);
  std::vector<std::string_view> strings;
  const wl::JsonCursor start = cursor;
  for (const bool again : {false, true}) {
    if (again) cursor = start;
    const wl::Status walked = cursor.for_each_element([&]() -> wl::Status {
      strings.push_back(cursor.take_string().value());
      return {};
    });
    WL_CHECK(walked.ok());
    WL_CHECK(!cursor.check_end().ok());
    WL_CHECK(cursor.take_value().value() == "3");
    WL_CHECK(cursor.check_end().ok());
  }
  WL_CHECK(strings == (std::vector<std::string_view>{"\t1", "2", "\t1", "2"}));
}
