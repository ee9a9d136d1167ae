#include "grammar/json_escape.h"

#include "test_grammar.h"

namespace g = wl::grammar;

namespace {

/// Any bytes, each a unit.
std::shared_ptr<const g::ByteDfa> any_bytes(g::EdgeKind kind) {
  return std::make_shared<const g::ByteDfa>(g::ByteDfa{{{{{0, 255, kind, 0}}, true}}});
}

/// Behind a rule of another grammar, so that its own rules get other numbers.
wl::Result<g::Grammar> escape(const g::Grammar& grammar) {
  g::Grammar out{{g::literal("another rule")}, 1};
  const auto root = g::in_json_string(grammar, out);
  if (!root.ok()) return root.error();
  out.root = static_cast<int32_t>(out.rules.size());
  out.rules.push_back(root.value());
  return out;
}

bool derives(const g::Grammar& grammar, std::string_view text) {
  return wl::test::Derivation(grammar, text).holds();
}

}  // namespace

WL_TEST("json escape: texts of the grammar are written as JSON writes them in a string") {
  const g::Grammar patch{
      {g::sequence({g::literal("a\n\"b\""), g::repeat(g::reference(1), 1, g::Repeat::kUnbounded)}),
       g::sequence(
           {g::literal("\t"), g::match(any_bytes(g::EdgeKind::kPlain)), g::literal("\x01")})},
      0};
  const g::Grammar escaped = escape(patch).value();
  WL_CHECK(derives(escaped, R"(a\n\"b\"\tmore \\ {} \u001f é\u0001)"));
  WL_CHECK(derives(escaped, R"(a\n\"b\"\t\u0001\t\u0001)"));
  WL_CHECK(!derives(escaped, "a\n\\\"b\\\"\\t\\u0001"));
  WL_CHECK(!derives(escaped, R"(a\n\"b\"\t"\u0001)"));
  WL_CHECK(!derives(escaped, R"(a\n\"b\"\t\x\u0001)"));
  WL_CHECK(!derives(escaped, R"(a\n\"b\"\t\u0041\u0001)"));
}

WL_TEST("json escape: every byte of a text has one way to be written") {
  const g::Grammar any{{g::match(any_bytes(g::EdgeKind::kPlain))}, 0};
  const g::Grammar escaped = escape(any).value();
  const std::string shorts = "\"\\\b\f\n\r\t";
  const std::string written = "\"\\bfnrt";
  for (int byte = 0; byte < 256; ++byte) {
    const std::string raw(1, static_cast<char>(byte));
    const size_t at = shorts.find(raw);
    const bool is_escaped = byte < 0x20 || at != std::string::npos;
    WL_CHECK_EQ(derives(escaped, raw), !is_escaped);
    if (at != std::string::npos) WL_CHECK(derives(escaped, "\\" + written.substr(at, 1)));
  }
  WL_CHECK(!derives(escaped, "\\"));
  WL_CHECK(!derives(escaped, "\\u000a"));
  WL_CHECK(derives(escaped, "\\u000b"));
}

WL_TEST("json escape: units are counted before they are escaped; what cannot be is refused") {
  const g::Grammar counted{{g::match(any_bytes(g::EdgeKind::kStartsUnit), {2, 3})}, 0};
  const g::Grammar escaped = escape(counted).value();
  WL_CHECK(derives(escaped, R"(\n\n)"));
  WL_CHECK(derives(escaped, R"(a\"b)"));
  WL_CHECK(!derives(escaped, R"(\n)"));
  WL_CHECK(!derives(escaped, R"(\n\n\n\n)"));
  WL_CHECK(!escape({{g::text("", {})}, 0}).ok());
}
