// Matchers against brute force: the mask of a place holds exactly the tokens that are accepted
// there, and walks that follow the mask end in texts that the grammar derives.

#include <random>

#include "test_grammar.h"

namespace g = wl::grammar;
using wl::test::accept_text;
using wl::test::compile;
using wl::test::has_bit;
using wl::test::mask_of;
using wl::test::matcher_of;
using wl::test::matches;

namespace {

using Edges = std::vector<g::ByteEdge>;

std::shared_ptr<const g::ByteDfa> dfa(std::vector<g::ByteState> states) {
  return std::make_shared<const g::ByteDfa>(g::ByteDfa{std::move(states)});
}

/// The rest of a quoted text of ASCII letters and spaces, each a unit.
std::shared_ptr<const g::ByteDfa> quoted_letters() {
  const auto unit = g::EdgeKind::kStartsUnit;
  Edges inside = {{' ', ' ', unit, 0},
                  {'"', '"', g::EdgeKind::kEndsUnits, 1},
                  {'A', 'Z', unit, 0},
                  {'a', 'z', unit, 0}};
  return dfa({{inside, false}, {{}, true}});
}

std::shared_ptr<const g::ByteDfa> digits() {
  const Edges digit = {{'0', '9', g::EdgeKind::kPlain, 1}};
  return dfa({{digit, false}, {digit, true}});
}

g::Grammar grammar_of(g::ExprPtr root) { return {{std::move(root)}, 0}; }

g::ExprPtr quoted(g::UnitBounds bounds = {}) {
  return g::sequence({g::literal("\""), g::match(quoted_letters(), bounds)});
}

/// Between min and max characters of a text.
g::ExprPtr letters(const std::string& set, uint32_t min, uint32_t max) {
  std::vector<g::ExprPtr> options;
  for (size_t at = 0; at < set.size();) {
    const size_t size = (set[at] & 0x80) == 0 ? 1 : 2;
    options.push_back(g::literal(set.substr(at, size)));
    at += size;
  }
  return g::repeat(g::choice(std::move(options)), min, max);
}

/// value = number | quoted | [ value, value, ... ]
g::Grammar nested_lists() {
  const auto more =
      g::repeat(g::sequence({g::literal(", "), g::reference(0)}), 0, g::Repeat::kUnbounded);
  const auto list = g::sequence(
      {g::literal("["), g::optional(g::sequence({g::reference(0), more})), g::literal("]")});
  return grammar_of(g::choice({g::match(digits()), quoted(), list}));
}

/// {"name": quoted, "read": [1 to 3 numbers]?, "with": digits?}
g::Grammar object() {
  const auto number = g::match(digits());
  const auto more = g::repeat(g::sequence({g::literal(", "), number}), 0, 2);
  return grammar_of(g::sequence(
      {g::literal("{\"name\": "), quoted({2, 9}),
       g::optional(g::sequence({g::literal(", \"read\": ["), number, more, g::literal("]")})),
       g::optional(g::sequence({g::literal(", \"with\": "), number})), g::literal("}")}));
}

/// {aa:1 ab:2 ...}, each of forty members there or not: as many elements as there are members left.
g::Grammar many_members() {
  std::vector<g::ExprPtr> parts = {g::literal("{")};
  for (char first = 'a'; first < 'e'; ++first) {
    for (char second = 'a'; second < 'k'; ++second) {
      const auto key = g::literal({first, second, ':'});
      parts.push_back(g::optional(g::sequence({key, g::match(digits()), g::literal(" ")})));
    }
  }
  parts.push_back(g::literal("}"));
  return grammar_of(g::sequence(std::move(parts)));
}

std::vector<std::pair<const char*, g::Grammar>> grammars() {
  const auto a = g::literal("a");
  const auto maybe_a = g::optional(a);
  return {
      {"nested lists", nested_lists()},
      {"object", object()},
      {"many members", many_members()},
      {"bounded text", grammar_of(quoted({3, 5}))},
      {"text of at least", grammar_of(quoted({4, g::UnitBounds::kUnbounded}))},
      {"ambiguous",
       grammar_of(g::repeat(g::choice({a, g::literal("aa"), g::literal("ab"), g::literal("b")}), 0,
                            g::Repeat::kUnbounded))},
      {"empty rounds",
       grammar_of(g::sequence({g::repeat(maybe_a, 2, 4), g::literal("."),
                               g::repeat(g::repeat(maybe_a, 0, 3), 1, g::Repeat::kUnbounded)}))},
      {"repeated letters", grammar_of(g::sequence({letters("abcdefgh the", 2, 7), g::literal("."),
                                                   letters("éx", 0, g::Repeat::kUnbounded)}))},
      {"repeated words",
       grammar_of(g::repeat(g::choice({g::literal("the "), g::literal("then "), g::literal("at ")}),
                            1, 3))},
      {"rounds", grammar_of(g::sequence({g::repeat(g::literal("the "), 3, 5), g::literal("end")}))},
      {"right recursion",
       {{g::choice({a, g::sequence({a, g::literal(" "), g::reference(0)})})}, 0}},
      {"brackets",
       {{g::choice({g::literal("."), g::sequence({g::literal("("), g::reference(0), g::literal(")"),
                                                  g::reference(0)})})},
        0}},
  };
}

void check_mask(const g::Matcher& matcher, size_t vocab, const char* name) {
  const std::vector<uint32_t> mask = mask_of(matcher, vocab);
  const auto forced = matcher.forced_token();
  for (size_t token = 0; token < vocab; ++token) {
    g::Matcher copy = matcher;
    const bool is_accepted = copy.accept(static_cast<g::TokenId>(token));
    const bool expected =
        forced ? static_cast<size_t>(*forced) == token && is_accepted : is_accepted;
    if (has_bit(mask, token) != expected) {
      wl::test::report_failure(__FILE__, __LINE__,
                               std::string(name) + ": token " + std::to_string(token));
    }
  }
}

}  // namespace

WL_TEST("grammar: a mask holds exactly the tokens that are accepted; walks end in derived texts") {
  const auto tokenizer = wl::test::small_tokenizer();
  const auto vocabulary = g::index_vocabulary(tokenizer);
  std::mt19937 random(7);
  for (const auto& [name, grammar] : grammars()) {
    const auto compiled = g::CompiledGrammar::compile(grammar, vocabulary);
    WL_CHECK(compiled.ok());
    int num_complete = 0;
    for (int walk = 0; walk < 12; ++walk) {
      g::Matcher matcher(compiled.value());
      std::string text;
      for (int step = 0; step < 24; ++step) {
        check_mask(matcher, tokenizer->num_tokens(), name);
        if (matcher.is_complete()) {
          ++num_complete;
          if (!wl::test::Derivation(grammar, text).holds()) {
            wl::test::report_failure(__FILE__, __LINE__, std::string(name) + ": " + text);
          }
        }
        const std::vector<uint32_t> mask = mask_of(matcher, tokenizer->num_tokens());
        std::vector<g::TokenId> allowed;
        for (size_t token = 0; token < tokenizer->num_tokens(); ++token) {
          if (has_bit(mask, token)) allowed.push_back(static_cast<g::TokenId>(token));
        }
        if (allowed.empty()) {
          WL_CHECK(matcher.is_complete());
          break;
        }
        const g::TokenId token = allowed[random() % allowed.size()];
        WL_CHECK(matcher.accept(token));
        const auto& bytes = tokenizer->token_bytes();
        text += bytes.bytes.substr(bytes.starts[static_cast<size_t>(token)],
                                   bytes.starts[static_cast<size_t>(token) + 1] -
                                       bytes.starts[static_cast<size_t>(token)]);
      }
    }
    if (num_complete == 0) wl::test::report_failure(__FILE__, __LINE__, name);
  }
}

WL_TEST("grammar: texts are matched whole, whatever tokens cross the borders of rules") {
  WL_CHECK(matches(object(), "{\"name\": \"the model\", \"read\": [1, 22, 3], \"with\": 5}"));
  WL_CHECK(matches(object(), "{\"name\": \"Paris\"}"));
  WL_CHECK(!matches(object(), "{\"name\": \"Paris\""));
  WL_CHECK(!matches(object(), "{\"name\": \"a\"}"));
  WL_CHECK(!matches(object(), "{\"name\": \"the long text\"}"));
  WL_CHECK(!matches(object(), "{\"name\": \"Paris\", \"read\": [1, 2, 3, 4]}"));
  WL_CHECK(matches(nested_lists(), "[[], [1, \"the name\"], [[[2]]]]"));
}

WL_TEST("grammar: large bounds cost neither nodes nor time") {
  const g::Grammar text = grammar_of(quoted({65'000, 65'536}));
  g::Matcher matcher = matcher_of(text);
  WL_CHECK(accept_text(matcher, "\""));
  for (int i = 0; i < 6'500; ++i) WL_CHECK(accept_text(matcher, " the  name"));
  WL_CHECK(accept_text(matcher, std::string(536, 'a')));
  WL_CHECK(!accept_text(matcher, "a"));
  WL_CHECK(accept_text(matcher, "\""));
  WL_CHECK(matcher.is_complete());

  const g::Grammar rounds = grammar_of(g::repeat(g::literal("a,"), 1'000'000, 2'000'000));
  WL_CHECK(!matches(rounds, "a,a,"));
}

WL_TEST("grammar: a deep stack is freed without recursion") {
  g::Matcher matcher = matcher_of(nested_lists());
  for (int i = 0; i < 20'000; ++i) WL_CHECK(accept_text(matcher, "[[[[[[[[[["));
}

WL_TEST("grammar: a copy of a matcher goes its own way") {
  g::Matcher matcher = matcher_of(nested_lists());
  WL_CHECK(accept_text(matcher, "[1"));
  g::Matcher draft = matcher;
  WL_CHECK(accept_text(draft, ", \"name\""));
  WL_CHECK(accept_text(matcher, "2]"));
  WL_CHECK(matcher.is_complete());
  WL_CHECK(!draft.is_complete());
  WL_CHECK(accept_text(draft, "]"));
}

WL_TEST("grammar: forced text is the tokenizer's own, but for the last token before a choice") {
  const auto tokenizer = wl::test::small_tokenizer();
  const g::Grammar grammar = grammar_of(g::sequence(
      {g::literal("the weather, the result: "), g::match(digits()), g::literal(" again")}));
  g::Matcher matcher(compile(grammar, tokenizer));
  const auto whole = tokenizer->encode("the weather, the result: ", {.starts_prompt = false});
  for (size_t i = 0; i + 1 < whole.size(); ++i) {
    WL_CHECK(matcher.forced_token() == whole[i]);
    WL_CHECK(matcher.accept(whole[i]));
  }
  WL_CHECK(!matcher.forced_token());
  WL_CHECK(matcher.accept(whole.back()));
  WL_CHECK(!matcher.forced_token());
  WL_CHECK(accept_text(matcher, "7 "));
  const auto end = tokenizer->encode("again", {.starts_prompt = false});
  for (const g::TokenId token : end) {
    WL_CHECK(matcher.forced_token() == token);
    WL_CHECK(matcher.accept(token));
  }
  WL_CHECK(matcher.is_complete());
  WL_CHECK(!matcher.forced_token());
}

WL_TEST("grammar: text is forced without the space that a tokenizer puts in front of prompts") {
  const std::string json =
      *wl::test::read_file(wl::test::golden_path("tokenizers/llama-spm/tokenizer.json"));
  const auto tokenizer = std::make_shared<const wl::tokenizer::Tokenizer>(
      wl::tokenizer::tokenizer_from_json(json).value());
  WL_CHECK(tokenizer->facts().strips_leading_space);
  for (const std::string text : {"the weather", " in {\"city\": ", "\nnaïve 漢字"}) {
    g::Matcher matcher(compile(grammar_of(g::literal(text)), tokenizer));
    std::string forced;
    int num_tokens = 0;
    while (const auto token = matcher.forced_token()) {
      const auto& [bytes, starts] = tokenizer->token_bytes();
      const auto id = static_cast<size_t>(*token);
      forced += bytes.substr(starts[id], starts[id + 1] - starts[id]);
      WL_CHECK(matcher.accept(*token));
      ++num_tokens;
    }
    WL_CHECK_EQ(forced, text);
    WL_CHECK(num_tokens < static_cast<int>(text.size()));  // whole words, not letters
    WL_CHECK(matcher.is_complete());
  }
}

WL_TEST("grammar: markers are special tokens; free text ends at the first one") {
  const auto tokenizer = wl::test::small_tokenizer();
  const auto tag = *tokenizer->find("<|python_tag|>");
  const auto eot = *tokenizer->find("<|eot_id|>");
  const g::Grammar grammar =
      grammar_of(g::sequence({g::text("<|python_tag|>", {"<|eot_id|>"}), g::match(digits()),
                              g::marker(" end<|eot_id|>")}));
  g::Matcher matcher(compile(grammar, tokenizer));
  WL_CHECK(accept_text(matcher, "any { text <|"));
  WL_CHECK(!matcher.is_complete());
  WL_CHECK(!g::Matcher(matcher).accept(eot));
  check_mask(matcher, tokenizer->num_tokens(), "free text");
  WL_CHECK(matcher.accept(tag));
  check_mask(matcher, tokenizer->num_tokens(), "behind the marker");
  WL_CHECK(!accept_text(matcher, "a"));
  WL_CHECK(accept_text(matcher, "12 end"));
  WL_CHECK(matcher.forced_token() == eot);
  WL_CHECK(matcher.accept(eot));
  WL_CHECK(matcher.is_complete());
}

WL_TEST("grammar: free text up to a marker that is spelled out") {
  const g::Grammar grammar = grammar_of(g::sequence(
      {g::text("<call>", {"<stop>", "<c>"}), g::match(digits()), g::text("", {"<call>"})}));
  WL_CHECK(matches(grammar, "<call>1"));
  WL_CHECK(matches(grammar, "text <<cal <call>12 and <cal more"));
  WL_CHECK(!matches(grammar, "text <call>a"));
  WL_CHECK(!matches(grammar, "<call>1 <call>"));
  WL_CHECK(!matches(grammar, "a <stop> <call>1"));
  WL_CHECK(!matches(grammar, "<c> <call>1"));
  WL_CHECK(!matches(grammar, "text"));
}

WL_TEST("grammar: what cannot be compiled is refused with the reason") {
  const auto vocabulary = g::index_vocabulary(wl::test::small_tokenizer());
  const auto message = [&](const g::Grammar& grammar) {
    const auto compiled = g::CompiledGrammar::compile(grammar, vocabulary);
    return compiled.ok() ? std::string("compiled") : compiled.error().message;
  };
  const auto a = g::literal("a");
  WL_CHECK(
      message({{g::sequence({g::optional(a), g::reference(0), a})}, 0}).find("no text can match") ==
      0);
  WL_CHECK(message({{g::choice({a, g::sequence({g::optional(a), g::reference(0), a})})}, 0})
               .find("left recursion") != std::string::npos);
  WL_CHECK(message({{g::choice({a, g::reference(1)}), g::sequence({g::reference(0), a})}, 0})
               .find("left recursion") != std::string::npos);
  WL_CHECK(message({{g::reference(3)}, 0}).find("does not exist") != std::string::npos);
  WL_CHECK(message({{a, nullptr}, 0}).find("has no text") != std::string::npos);
  WL_CHECK(message({{g::choice({})}, 0}) == "no text can match the grammar");
  g::ExprPtr deep = a;
  for (int i = 0; i < 100'000; ++i) deep = g::sequence({deep});
  WL_CHECK(message({{deep}, 0}).find("too deeply") != std::string::npos);
  // Its destruction would recurse as deep as it was built: taken apart from the outside.
  while (const auto* sequence = std::get_if<g::Sequence>(&deep->node)) {
    g::ExprPtr inner = sequence->parts[0];
    deep = std::move(inner);
  }
}
