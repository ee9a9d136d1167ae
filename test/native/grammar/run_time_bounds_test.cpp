// A maximum of units on an automaton that cannot end anywhere: masks lead to no dead end.

#include <memory>

#include "grammar/encoded_dfa.h"
#include "grammar/regex.h"
#include "grammar/test_grammar.h"

namespace wl::test {
namespace {

using namespace grammar;

/// Labels of at least two letters with dots between them, at most `max` characters.
Grammar bounded_labels(uint32_t max) {
  const CharDfa labels = parse_regex("(?:[a-e]{2,}\\.)+[a-e]{2,}").value();
  auto rest = std::make_shared<const ByteDfa>(json_string_rest_dfa(labels, CountUnits::kYes));
  return {{sequence({literal("\""), match(std::move(rest), {0, max})})}, 0};
}

WL_TEST("a text ends within its maximum, whatever must still come") {
  const Grammar grammar = bounded_labels(7);
  WL_CHECK(matches(grammar, "\"ab.cd\""));
  WL_CHECK(matches(grammar, "\"abcd.ab\""));
  WL_CHECK(!matches(grammar, "\"ab.cd.ab\""));
  for (const char* start : {"\"abcde", "\"ab.cd.", "\"abcd.ab.", "\"ab.cd.a"}) {
    Matcher matcher = matcher_of(grammar);
    WL_CHECK(!accept_text(matcher, start));
  }
}

WL_TEST("walks along masks end within the maximum") {
  const auto tokenizer = small_tokenizer();
  const size_t vocab = tokenizer->num_tokens();
  const auto compiled = compile(bounded_labels(9), tokenizer);
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Matcher matcher(compiled);
    uint32_t random = seed;
    int num_tokens = 0;
    while (!matcher.is_complete() && num_tokens < 20) {
      const auto mask = mask_of(matcher, vocab);
      std::vector<tokenizer::TokenId> allowed;
      for (size_t token = 0; token < vocab; ++token) {
        if (has_bit(mask, token)) allowed.push_back(static_cast<tokenizer::TokenId>(token));
      }
      WL_CHECK(!allowed.empty());
      if (allowed.empty()) break;
      random = random * 1664525 + 1013904223;
      WL_CHECK(matcher.accept(allowed[(random >> 8) % allowed.size()]));
      ++num_tokens;
    }
    WL_CHECK(matcher.is_complete());
  }
}

}  // namespace
}  // namespace wl::test
