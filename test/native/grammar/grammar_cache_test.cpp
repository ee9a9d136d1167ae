#include "grammar/grammar_cache.h"

#include <thread>

#include "test_grammar.h"

using wl::ErrorCode;
using wl::grammar::GrammarCache;

static std::string literal_spec(int number) {
  return R"({"literal": "text )" + std::to_string(number) + "\"}";
}

WL_TEST("grammar cache: a spec is found by its content") {
  GrammarCache cache(wl::test::small_tokenizer());
  const auto first = cache.compile(literal_spec(1));
  WL_CHECK(first.ok());
  WL_CHECK(cache.compile(std::string(literal_spec(1))).value() == first.value());
  WL_CHECK(cache.compile(literal_spec(2)).value() != first.value());
  WL_CHECK_EQ(cache.num_compiled(), uint64_t{2});
  wl::grammar::Matcher matcher(first.value());
  WL_CHECK(wl::test::accept_text(matcher, "text 1"));
}

WL_TEST("grammar cache: those used least recently go first, by number and by bytes") {
  GrammarCache few(wl::test::small_tokenizer(), {.max_grammars = 2, .max_spec_bytes = 1000});
  const auto held = few.compile(literal_spec(1)).value();
  WL_CHECK(few.compile(literal_spec(2)).ok());
  WL_CHECK(few.compile(literal_spec(1)).value() == held);
  WL_CHECK(few.compile(literal_spec(3)).ok());  // in place of 2
  WL_CHECK(few.compile(literal_spec(1)).value() == held);
  WL_CHECK_EQ(few.num_compiled(), uint64_t{3});
  WL_CHECK(few.compile(literal_spec(2)).ok());
  WL_CHECK_EQ(few.num_compiled(), uint64_t{4});

  GrammarCache small(wl::test::small_tokenizer(), {.max_grammars = 99, .max_spec_bytes = 50});
  const auto first = small.compile(literal_spec(1)).value();
  WL_CHECK(small.compile(literal_spec(2)).ok());  // 2 x 21 bytes
  WL_CHECK(small.compile(literal_spec(3)).ok());
  WL_CHECK(small.compile(literal_spec(1)).value() != first);
  const std::string long_spec = R"({"literal": ")" + std::string(100, 'x') + "\"}";
  const auto longer = small.compile(long_spec).value();  // one that is too long stays alone
  WL_CHECK(small.compile(long_spec).value() == longer);
}

WL_TEST("grammar cache: threads that ask for one grammar compile it once") {
  GrammarCache cache(wl::test::small_tokenizer());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int number = 0; number < 20; ++number)
        WL_CHECK(cache.compile(literal_spec(number)).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  WL_CHECK_EQ(cache.num_compiled(), uint64_t{20});
}

WL_TEST("grammar cache: what cannot be compiled is an error each time") {
  GrammarCache cache(wl::test::small_tokenizer());
  for (const char* spec : {"", "{", "[]", R"({"regex": "("})", R"({"choice": []})"}) {
    for (int round = 0; round < 2; ++round) {
      const auto result = cache.compile(spec);
      WL_CHECK(!result.ok() && result.error().code == ErrorCode::kGrammar);
      WL_CHECK(!result.ok() && !result.error().message.empty());
    }
  }
  WL_CHECK_EQ(cache.num_compiled(), uint64_t{0});
}

WL_TEST("grammar cache: one for each tokenizer of the process") {
  const auto tokenizer = wl::test::small_tokenizer();
  const auto other = wl::test::small_tokenizer();
  const auto cache = wl::grammar::shared_grammar_cache(tokenizer);
  WL_CHECK(wl::grammar::shared_grammar_cache(tokenizer) == cache);
  WL_CHECK(wl::grammar::shared_grammar_cache(other) != cache);
}
