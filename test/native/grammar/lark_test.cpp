// Lark grammars of custom tools.

#include "grammar/lark.h"

#include <string>
#include <utility>

#include "grammar/spec_texts.h"

namespace wl::test {
namespace {

std::string json_of(const std::string& definition) {
  std::string out = "{\"lark\": \"";
  for (const char c : definition) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '"' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
  }
  return out + "\"}";
}

SpecTexts lark_texts(const std::string& definition) { return SpecTexts(json_of(definition)); }

WL_TEST("the grammar of a patch tool derives patches") {
  const SpecTexts texts = lark_texts(R"(start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF -> line

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
)");
  WL_CHECK_HAS(texts, "*** Begin Patch\n*** Add File: a.txt\n+one\n+\n*** End Patch");
  WL_CHECK_HAS(texts,
               "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ f()\n-x\n+y\n z\n"
               "*** End of File\n*** Delete File: c\n*** End Patch\n");
  WL_CHECK_HAS_NOT(texts, "*** Begin Patch\n*** End Patch");
  WL_CHECK_HAS_NOT(texts, "*** Begin Patch\n*** Add File: a.txt\none\n*** End Patch");
}

WL_TEST("the grammar of a code tool: a pragma line, or source alone") {
  const SpecTexts texts = lark_texts(R"(
start: pragma_source | plain_source
pragma_source: PRAGMA_LINE NEWLINE SOURCE
plain_source: SOURCE

PRAGMA_LINE: /[ \t]*\/\/ @exec:[^\r\n]*/
NEWLINE: /\r?\n/
SOURCE: /[\s\S]+/
)");
  WL_CHECK_HAS(texts, "// @exec: {}\nx = 1;\n");
  WL_CHECK_HAS(texts, "let y;");
  WL_CHECK_HAS_NOT(texts, "");
}

WL_TEST("rules and terminals: ranges, flags, counts, optional parts, options over lines") {
  const SpecTexts texts = lark_texts(R"lark(
start: KEY "=" value
?value.3: HEX~2..3 | "on"i | [ "n" "u" ] "ll"
  | ("(" value
    ")") -> nested
!KEY: "a".."c" ("_" | DIGIT)*
HEX.2: DIGIT | /[a-f]/i   # either case
%import common (DIGIT)
%import common.INT -> NUM
)lark");
  for (const char* text : {"a=1f", "b_9=ABC", "c=oN", "a=ll", "a=null", "a=((12))"}) {
    WL_CHECK_HAS(texts, text);
  }
  for (const char* text : {"d=12", "a=1", "a=1234", "a=(12", "a=nll", "a="}) {
    WL_CHECK_HAS_NOT(texts, text);
  }
}

WL_TEST("ignored terminals may stand between tokens") {
  const SpecTexts texts = lark_texts(
      "start: \"let\" CNAME \"=\" SIGNED_NUMBER\n%import common (CNAME, SIGNED_NUMBER, "
      "WS)\n%ignore WS\n");
  WL_CHECK_HAS(texts, "let x = -1.5e3");
  WL_CHECK_HAS(texts, " letx=2\n");
  WL_CHECK_HAS_NOT(texts, "let x y = 1");
}

WL_TEST("the terminals of Lark's library") {
  const std::pair<const char*, const char*> cases[] = {{"ESCAPED_STRING", R"("a\"b")"},
                                                       {"FLOAT", "1.e5"},
                                                       {"DECIMAL", ".5"},
                                                       {"C_COMMENT", "/* a * b */"},
                                                       {"NEWLINE", "\r\n\n"},
                                                       {"SH_COMMENT", "# x"},
                                                       {"SIGNED_INT", "-7"},
                                                       {"HEXDIGIT", "f"},
                                                       {"WS_INLINE", " \t"},
                                                       {"SIGNED_FLOAT", "+1e5"},
                                                       {"CPP_COMMENT", "//x"},
                                                       {"SQL_COMMENT", "--x"}};
  for (const auto& [name, text] : cases) {
    const SpecTexts texts =
        lark_texts(std::string("start: ") + name + "\n%import common." + name + "\n");
    WL_CHECK_HAS(texts, text);
    WL_CHECK_HAS_NOT(texts, "?");
  }
}

WL_TEST("a Lark grammar that is wrong or not supported is refused with its line") {
  const std::pair<const char*, const char*> cases[] = {
      {"a: \"x\"", "no rule start"},
      {"start: b", "line 1: \"b\" is not defined"},
      {"start: \"a\n", "string without an end"},
      {"start: /a", "expression without an end"},
      {"start: \"a\"\nstart: \"b\"", "line 2: \"start\" is defined twice"},
      {"start: (\"a\"", "expected )"},
      {"start: \"a\" )", "end of the line"},
      {"start: \"a\"~3..2", "wrong order"},
      {"start: pair{A}\nA: \"a\"", "templates"},
      {"start: A\nA: \"a\" A?", "recursive"},
      {"start: A\nA: b\nb: \"x\"", "names the rule"},
      {"start: /^a/", "anchor"},
      {"start: /(?=a)/", "look-ahead"},
      {"start: /a/x", "flag x"},
      {"%declare A\nstart: A", "\"declare\""},
      {"%import other.A\nstart: A", "only terminals of common"},
      {"%import common.NONE\nstart: NONE", "has no \"NONE\""},
      {"start: \"b\"..\"a\"", "two characters"},
      {"start: A\nA: /[a-z]/~1..30000", "terminal"},
      {"start: sum\nsum: sum \"+\" A | A\nA: \"1\"", "rule \"sum\" of the grammar can begin"},
      {"start: &", "means nothing"}};
  for (const auto& [definition, reason] : cases) {
    const std::string message = refusal(json_of(definition));
    if (!contains(message, reason)) {
      report_failure(__FILE__, __LINE__, std::string(definition) + ": " + message);
    }
  }
}

WL_TEST("terminals that double each other are refused before they grow") {
  std::string definition = "start: T0\n";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "T" + std::to_string(i + 1);
    definition.append("T" + std::to_string(i)).append(": ").append(next + " " + next + "\n");
  }
  WL_CHECK(contains(refusal(json_of(definition + "T40: \"a\"\n")), "too large"));
}

}  // namespace
}  // namespace wl::test
