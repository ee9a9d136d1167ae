#include "base/json_slices.h"

#include "check.h"

namespace {

/// Members as "key=value;", or the error's message.
std::string members(std::string_view text) {
  std::string out;
  const wl::Status walked =
      wl::for_each_member(text, [&](std::string_view key, std::string_view value) -> wl::Status {
        out += std::string(key) + "=" + std::string(value) + ";";
        return {};
      });
  return walked.ok() ? out : walked.error().message;
}

std::string elements(std::string_view text) {
  std::string out;
  const wl::Status walked = wl::for_each_element(text, [&](std::string_view value) -> wl::Status {
    out += std::string(value) + ";";
    return {};
  });
  return walked.ok() ? out : walked.error().message;
}

}  // namespace

WL_TEST("json slices: members and elements come as they stand in the text") {
  WL_CHECK_EQ(members(R"( {"a" : [1, {"b": "]}"}] , "\u0063\"": -1.5e3 , "d":null} )"),
              std::string(R"(a=[1, {"b": "]}"}];c"=-1.5e3;d=null;)"));
  WL_CHECK_EQ(elements(R"([ "x\\", "\"" ,[],true])"), std::string(R"("x\\";"\"";[];true;)"));
  WL_CHECK_EQ(members("{}") + elements(" [ ] "), std::string());
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
  std::string buffer;
  WL_CHECK(wl::json_string("\"a\\n\"", &buffer).value() == "a\n");
  WL_CHECK(wl::json_string("\"\"", &buffer).value().empty());
  for (const char* slice : {"", "1", "\"", "\"a\nb\"", "\"a\"b\"", "\"\\x\"", "null"}) {
    WL_CHECK(!wl::json_string(slice, &buffer).ok());
  }
}
