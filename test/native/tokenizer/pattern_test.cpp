#include "tokenizer/pattern.h"

#include "check.h"
#include "loader/expect_error.h"
#include "tokenizer/pre_tokenizers.h"
#include "tokenizer/text_splitter.h"

using wl::tokenizer::Pattern;
using wl::tokenizer::SplitBehavior;

namespace {

/// The pieces, joined by '|'.
std::string pieces(const std::vector<std::string>& patterns, const std::string& text,
                   SplitBehavior behavior = SplitBehavior::kIsolated, bool is_inverted = false) {
  std::vector<wl::tokenizer::Split> splits;
  for (const std::string& expression : patterns) {
    auto pattern = Pattern::compile(expression);
    if (!pattern.ok()) return pattern.error().message;
    splits.push_back({std::move(pattern).value(), behavior, is_inverted});
  }
  std::vector<wl::tokenizer::Piece> found;
  wl::tokenizer::TextSplitter(std::move(splits)).split(text, &found);
  std::string out;
  for (const auto& piece : found) {
    out += (out.empty() ? "" : "|") + text.substr(piece.start, piece.end - piece.start);
  }
  return out;
}

std::string named(const std::string& name, const std::string& text) {
  const auto rules = wl::tokenizer::pre_tokenizer(name);
  return rules.ok() ? pieces(rules.value().patterns, text) : rules.error().message;
}

}  // namespace

WL_TEST("pattern: the first alternative that fits wins, each run as long as it goes") {
  WL_CHECK_EQ(pieces({"a|ab+"}, "abb"), std::string("a|bb"));
  WL_CHECK_EQ(pieces({"ab+|a"}, "abba"), std::string("abb|a"));
  WL_CHECK_EQ(pieces({"[0-9]{1,3}"}, "1234567x"), std::string("123|456|7|x"));
}

WL_TEST("pattern: a run gives back what the rest of its alternative needs") {
  WL_CHECK_EQ(pieces({"\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}, "a \n\n  b"),
              std::string("a| \n\n| | |b"));
  WL_CHECK_EQ(pieces({"[\\p{Lu}]*[\\p{Lu}\\p{Ll}]+"}, "ABC"), std::string("ABC"));
  WL_CHECK_EQ(pieces({"é*é"}, "ééé"), std::string("ééé"));
}

WL_TEST("pattern: long runs that lead nowhere are looked at once") {
  // Each of these would take the square or the cube of a mebibyte.
  const std::string run(size_t{1} << 20, 'a');
  WL_CHECK_EQ(pieces({"a+b"}, run), run);
  WL_CHECK_EQ(pieces({"a*a+b"}, run), run);
  WL_CHECK_EQ(pieces({"[ac]+[ad]+(?:e|f)"}, run), run);
  WL_CHECK_EQ(pieces({"x?a+(?!\\S)"}, run + "b"), run + "b");
  WL_CHECK_EQ(pieces({"[ab]*b"}, "ab" + run + "b" + run), "ab" + run + "b|" + run);
}

WL_TEST("pattern: what follows a long run is found wherever the run is left") {
  const std::string spaces(100, ' ');
  WL_CHECK_EQ(pieces({"\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}, spaces + "\n" + spaces + "b"),
              spaces + "\n|" + spaces.substr(1) + "| |b");
  const std::string mixed = std::string(50, 'a') + "c" + std::string(50, 'a') + "bb";
  WL_CHECK_EQ(pieces({"a+b|ac"}, mixed),
              std::string(49, 'a') + "|ac|" + std::string(50, 'a') + "b|b");
  WL_CHECK_EQ(pieces({"[ac]+[ab]+b"}, mixed), mixed);
}

WL_TEST("pattern: white space in front of a word leaves the word its space") {
  WL_CHECK_EQ(named("gpt-2", "a   b  "), std::string("a|  | b|  "));
  WL_CHECK_EQ(named("gpt-2", "a\t\tb"), std::string("a|\t|\t|b"));
  WL_CHECK_EQ(named("gpt-2", "a\n\u00a0b"), std::string("a|\n|\u00a0|b"));
}

WL_TEST("pattern: contractions in any case, the long s included") {
  WL_CHECK_EQ(named("llama3", "I'LL it'ſ"), std::string("I|'LL| it|'ſ"));
  WL_CHECK_EQ(named("gpt-2", "I'll I'LL"), std::string("I|'ll| I|'|LL"));
  WL_CHECK_EQ(named("gpt-4o", "I'll"), std::string("I'll"));
}

WL_TEST("pattern: digits by ones, by threes and of all scripts") {
  WL_CHECK_EQ(named("qwen2", "12½"), std::string("1|2|½"));
  WL_CHECK_EQ(named("llama3", "1234٣٤"), std::string("123|4٣٤"));
  WL_CHECK_EQ(named("smollm", "ab12"), std::string("ab|1|2"));
}

WL_TEST("pattern: each split sees the pieces of the one before") {
  WL_CHECK_EQ(named("deepseek-v3", "漢字12ab"), std::string("漢字|12|ab"));
  WL_CHECK_EQ(named("falcon", "a--1234"), std::string("a|--|123|4"));
}

WL_TEST("pattern: every name of the table compiles, another one is refused") {
  for (const char* name :
       {"llama-bpe", "dbrx", "qwen2", "qwen35", "gpt-2", "starcoder", "tekken", "gpt-4o",
        "deepseek-v3", "deepseek-coder", "falcon", "bailingmoe", "seed-coder", "default"}) {
    WL_CHECK_EQ(named(name, "x"), std::string("x"));
  }
  WL_EXPECT_ERROR(wl::tokenizer::pre_tokenizer("deepseek-v9"), "ERR_TOKENIZER_TYPE",
                  "pre-tokenizer \"deepseek-v9\" is not supported");
}

WL_TEST("pattern: bytes that are no character are pieces too") {
  WL_CHECK_EQ(named("gpt-2", "a\xff\xfe b"), std::string("a|\xff\xfe| b"));
  WL_CHECK_EQ(named("llama3", "\xe4\xb8"), std::string("\xe4\xb8"));
}

WL_TEST("pattern: what is no run of classes is refused by name") {
  for (const char* expression :
       {"a(b)c",   "(?<!x)y", "\\d+",    "[a&&b]",        "[[:alpha:]]", "x**", "\\p{Han}", "[b-a]",
        "(?i:a)b", "a{3,1}",  "a{1,17}", "a{0,9}a{0,9}b", "[",           "\\",  "(?i:",     ".",
        "",        "a*",      "a||b",    "\\s*\\s*\\s*x"}) {
    WL_EXPECT_ERROR(Pattern::compile(expression), "ERR_TOKENIZER_TYPE", "pre-tokenizer pattern");
  }
}

WL_TEST("splits: what becomes of matches and gaps") {
  const auto by_dash = [](SplitBehavior behavior, bool is_inverted = false) {
    return pieces({"-"}, "a--b-", behavior, is_inverted);
  };
  WL_CHECK_EQ(by_dash(SplitBehavior::kIsolated), std::string("a|-|-|b|-"));
  WL_CHECK_EQ(by_dash(SplitBehavior::kRemoved), std::string("a|b"));
  WL_CHECK_EQ(by_dash(SplitBehavior::kRemoved, true), std::string("-|-|-"));
  WL_CHECK_EQ(by_dash(SplitBehavior::kContiguous), std::string("a|--|b|-"));
  WL_CHECK_EQ(by_dash(SplitBehavior::kMergedWithPrevious), std::string("a-|-|b-"));
  WL_CHECK_EQ(by_dash(SplitBehavior::kMergedWithNext), std::string("a|-|-b|-"));
}
