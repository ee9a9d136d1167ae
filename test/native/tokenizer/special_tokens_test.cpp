#include "tokenizer/special_tokens.h"

#include "check.h"

using wl::tokenizer::SpecialToken;
using wl::tokenizer::SpecialTokens;

namespace {

/// "id@start-end" of every match.
std::string matches(const SpecialTokens& tokens, const std::string& text) {
  std::string out;
  size_t from = 0;
  while (const auto match = tokens.find(text, from)) {
    out += (out.empty() ? "" : " ") + std::to_string(match->token->id) + "@" +
           std::to_string(match->start) + "-" + std::to_string(match->end);
    from = match->end;
  }
  return out;
}

}  // namespace

WL_TEST("special tokens: leftmost first, longest first") {
  const SpecialTokens tokens({{.id = 1, .text = "<a>"},
                              {.id = 2, .text = "<a>b"},
                              {.id = 3, .text = "a>bc"},
                              {.id = 4, .text = ""}});
  WL_CHECK_EQ(matches(tokens, "x<a>bc<a>"), std::string("2@1-5 1@6-9"));
  WL_CHECK_EQ(matches(tokens, "<<a a>bc"), std::string("3@4-8"));
  WL_CHECK_EQ(matches(tokens, "<a"), std::string());
  WL_CHECK_EQ(matches(SpecialTokens(), "<a>"), std::string());
}

WL_TEST("special tokens: a word token is not found inside a word") {
  const SpecialTokens tokens({{.id = 1, .text = "ab", .is_word = true}});
  WL_CHECK_EQ(matches(tokens, "ab xab abx éab ab_ (ab)"), std::string("1@0-2 1@21-23"));
}

WL_TEST("special tokens: of two with one text the first counts; find_text is exact") {
  const SpecialTokens tokens({{.id = 1, .text = "<a>"}, {.id = 2, .text = "<a>"}});
  WL_CHECK_EQ(tokens.find_text("<a>")->id, 1);
  WL_CHECK(tokens.find_text("<a") == nullptr);
}
