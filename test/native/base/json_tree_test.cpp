#include "base/json_tree.h"

#include <string>

#include "check.h"

namespace wl {
namespace {

WL_TEST("a JSON tree keeps the order of members and numbers as they are written") {
  const auto tree = parse_json_tree(R"({"b": 1.50, "a": [true, null, "x\n"], "c": {}})");
  WL_CHECK(tree.ok());
  const JsonTree& root = tree.value();
  WL_CHECK_EQ(root.members.size(), 3u);
  WL_CHECK_EQ(root.members[0].key, "b");
  WL_CHECK_EQ(root.members[0].value.text, "1.50");
  const JsonTree* items = root.find("a");
  WL_CHECK(items != nullptr && items->items.size() == 3);
  WL_CHECK(items->items[0].is(JsonTree::Kind::kTrue));
  WL_CHECK(items->items[1].is(JsonTree::Kind::kNull));
  WL_CHECK_EQ(items->items[2].text, "x\n");
  WL_CHECK(root.find("d") == nullptr);
}

WL_TEST("a JSON tree refuses what parse_json refuses") {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "{\"a\":1,\"a\":2}", "[01]", "[1] 2",
                           "\"\\ud800\"", "nul", "[\"\x80\"]", "[}", "{\"a\":}"}) {
    const auto tree = parse_json_tree(text);
    WL_CHECK(!tree.ok());
    if (!tree.ok()) WL_CHECK(tree.error().code == ErrorCode::kModelFormat);
  }
}

WL_TEST("a JSON tree is bounded in depth and number of values") {
  const std::string deep = std::string(10, '[') + std::string(10, ']');
  WL_CHECK(parse_json_tree(deep, {.max_depth = 10}).ok());
  WL_CHECK(!parse_json_tree(deep, {.max_depth = 9}).ok());
  WL_CHECK(!parse_json_tree("[1,2,3]", {.max_nodes = 3}).ok());
}

}  // namespace
}  // namespace wl
