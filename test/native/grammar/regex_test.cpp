// Regular expressions as automata over characters.

#include "grammar/regex.h"

#include <string>
#include <vector>

#include "check.h"

namespace wl::grammar {
namespace {

constexpr RegexOptions kSearch = {.scope = RegexOptions::Scope::kSearch};

void check_matches(const std::string& pattern, const std::vector<std::string>& in,
                   const std::vector<std::string>& out, RegexOptions options = {}) {
  const auto dfa = parse_regex(pattern, options);
  if (!dfa.ok()) {
    test::report_failure(__FILE__, __LINE__, pattern + " " + dfa.error().message);
    return;
  }
  for (const std::string& text : in) {
    if (!dfa.value().accepts(text))
      test::report_failure(__FILE__, __LINE__, pattern + " refuses " + text);
  }
  for (const std::string& text : out) {
    if (dfa.value().accepts(text))
      test::report_failure(__FILE__, __LINE__, pattern + " takes " + text);
  }
}

WL_TEST("a regex matches literals, alternatives, groups and quantifiers") {
  check_matches("ab|c", {"ab", "c"}, {"", "a", "abc"});
  check_matches("a(?:b|(?<name>c))*d", {"ad", "abcbd"}, {"abc", "axd"});
  check_matches("a?b+c{2}d{1,2}e{2,}?", {"abccdee", "bbccddeee"},
                {"acccdee", "abccdddee", "abccde"});
  check_matches("(ab){0}c{,1}", {"", "c"}, {"ab"});
  check_matches("", {""}, {"a"});
}

WL_TEST("a regex matches classes and escapes over code points") {
  check_matches("[a-cx\\-\\]^]+", {"a-]^x"}, {"d", "\\"});
  check_matches("[^\\d\\s]", {"a", "é", "😀"}, {"1", " ", "\xc2\xa0", "ab"});
  check_matches("\\w\\W\\s\\S\\D", {"a- -x"}, {"é- -x"});
  check_matches("\\t\\n\\r\\f\\v\\0\\cA\\x41\\u0042\\u{1F600}\\ud83d\\ude00\\/\\.",
                {std::string("\t\n\r\f\v\0\x01", 7) + "AB😀😀/."}, {});
  check_matches("[\\b][^]", {"\bx", "\b\n"}, {"b"});
  check_matches("\\p{Lu}\\p{L}\\P{L}\\p{gc=N}", {"Éß-7"}, {"éß-7", "Éßa7"});
  check_matches(".", {"a", "😀"}, {"\n", "\r", "\xe2\x80\xa8", ""});
}

WL_TEST("a pattern is searched for unless anchors say where it stands") {
  check_matches("\\d", {"1", "a1b"}, {"", "ab"}, kSearch);
  check_matches("^a", {"a", "ab"}, {"ba"}, kSearch);
  check_matches("a$", {"a", "ba"}, {"ab"}, kSearch);
  check_matches("^a|b$|^$", {"ax", "xb", ""}, {"xa", "bx"}, kSearch);
  check_matches("(^|,)x(,|$)", {"x", "a,x", "x,b", "a,x,b"}, {"ax", "xb"}, kSearch);
  check_matches("a^b", {}, {"ab", "b"}, kSearch);
  check_matches("", {"", "anything"}, {}, kSearch);
}

WL_TEST("Lark's options: another dot, and ASCII letters of either case") {
  check_matches("a.", {"ab", "a\r"}, {"a\n"}, {.dot = RegexOptions::Dot::kNoLineFeed});
  check_matches("a.", {"a\n"}, {}, {.dot = RegexOptions::Dot::kAny});
  check_matches("a[x-z]é", {"AYé", "ayé"}, {"ayÉ"}, {.ignores_ascii_case = true});
}

WL_TEST("what is not regular or not supported is refused with the reason") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"(?=a)", "look-ahead"},
      {"(?<!a)b", "look-behind"},
      {"(a)\\1", "back reference"},
      {"\\k<a>", "back reference"},
      {"\\ba", "word boundary"},
      {"(?i:a)", "kind of group"},
      {"\\p{Script=Greek}", "Unicode property"},
      {"(a", "group without an end"},
      {"a)", "unmatched )"},
      {"[a", "class without an end"},
      {"*a", "nothing to repeat"},
      {"a**", "behind a quantifier"},
      {"a{2,1}", "wrong order"},
      {"a{x}", "incomplete"},
      {"[b-a]", "wrong order"},
      {"\\", "backslash"},
      {"\\q", "unknown escape"},
      {"\\u12", "hex"},
      {"^*", "behind an anchor"}};
  for (const auto& [pattern, reason] : cases) {
    const auto dfa = parse_regex(pattern);
    WL_CHECK(!dfa.ok());
    if (dfa.ok()) continue;
    WL_CHECK(dfa.error().code == ErrorCode::kGrammar);
    if (dfa.error().message.find(reason) == std::string::npos) {
      test::report_failure(__FILE__, __LINE__, pattern + ": " + dfa.error().message);
    }
  }
}

WL_TEST("patterns made to be large are refused, not built") {
  for (const char* pattern :
       {"(a|b)*a(a|b){20}", "((a{1000}){1000}){1000}", "((){1000}){100000}", "(x+x+)+y{99999}"}) {
    WL_CHECK(!parse_regex(pattern, kSearch).ok());
  }
  WL_CHECK(!parse_regex(std::string(1000, '('), kSearch).ok());
  WL_CHECK(parse_regex("^(([a-z])+.)+[A-Z]([a-z])+$", kSearch).ok());
}

}  // namespace
}  // namespace wl::grammar
