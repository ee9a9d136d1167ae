// Requests whose output must match a grammar: every token is one that the grammar allows, and what
// is forced comes out the same whether it was sampled or jumped over.

#include "toy_grammar.h"

using namespace wl::test;
using wl::ErrorCode;
using wl::engine::LogitsMode;

static const Tokens kPrompt = random_tokens(1, 40);

static RequestOptions with_grammar(ToyGrammar grammar, Tokens tokens = kPrompt,
                                   int max_output_tokens = 100) {
  RequestOptions options = make_request(std::move(tokens), max_output_tokens);
  options.grammar = std::move(grammar);
  options.stop_token_ids = {kToyEnd, kToyOtherEnd};
  return options;
}

/// Greedy, sampled, with filters and with penalties.
static std::vector<wl::engine::SamplingParams> samplings() {
  return {{},
          {.temperature = 1, .seed = 5},
          {.temperature = 1.5, .top_k = 4, .seed = 6},
          {.temperature = 1.5, .top_p = 0.7, .presence_penalty = 0.5, .seed = 7},
          {.repetition_penalty = 1.3, .seed = 8}};
}

static Output alone(const RequestOptions& options, int max_sequence_tokens = 1024) {
  return expected_output(options.tokens, options, max_sequence_tokens);
}

static bool matches(const ToyGrammar& grammar, Tokens tokens) {
  if (!tokens.empty() && tokens.back() == kToyEnd) tokens.pop_back();
  wl::grammar::Matcher matcher(grammar);
  for (const int32_t token : tokens) {
    if (!matcher.accept(token)) return false;
  }
  return matcher.is_complete();
}

WL_TEST("grammar: outputs match it, greedy and sampled, jumping or not") {
  for (const ToyGrammar& grammar : {toy_object(), toy_phrase()}) {
    for (const auto& sampling : samplings()) {
      for (const bool jumps : {true, false}) {
        CoreDriver driver;
        RequestOptions options = with_grammar(grammar);
        options.sampling = sampling;
        options.jump_forward = jumps;
        const auto& told = driver.run(options);
        check_output(told, alone(options));
        WL_CHECK(told.finish == FinishReason::kStop);
        WL_CHECK_EQ(told.tokens.back(), kToyEnd);
        WL_CHECK(matches(grammar, told.tokens));
        WL_CHECK_EQ(driver.core.stats().forced_tokens > 0, jumps);
      }
    }
  }
}

WL_TEST("grammar: a forced run takes one step, and the forced end none") {
  CoreDriver driver;
  const auto& told = driver.run(with_grammar(toy_phrase()));
  WL_CHECK_EQ(toy_text(told.tokens), "{\"name\":\"true_name\"}");
  WL_CHECK_EQ(driver.runner.num_steps, 1);  // the prompt's
  const auto stats = driver.core.stats();
  WL_CHECK_EQ(stats.forced_tokens, told.tokens.size());
  WL_CHECK_EQ(stats.decode_tokens, uint64_t{0});

  CoreDriver mixed;
  const auto& object = mixed.run(with_grammar(toy_object()));
  const auto num_forced = mixed.core.stats().forced_tokens;
  const auto num_sampled = object.tokens.size() - num_forced;
  // The first run is forced right behind the prompt, the last one ends the request.
  WL_CHECK_EQ(static_cast<size_t>(mixed.runner.num_steps), 1 + num_sampled);
  WL_CHECK(num_forced > num_sampled);
}

WL_TEST("grammar: without stop tokens the output ends where its text does") {
  for (const bool jumps : {true, false}) {
    for (const ToyGrammar& grammar : {toy_phrase(), compile_toy(wl::grammar::sequence({}))}) {
      CoreDriver driver;
      RequestOptions options = with_grammar(grammar);
      options.stop_token_ids = {};
      options.jump_forward = jumps;
      const auto& told = driver.run(options);
      check_output(told, alone(options));
      WL_CHECK(told.finish == FinishReason::kStop);
      WL_CHECK(matches(grammar, told.tokens));
    }
  }
}

WL_TEST("grammar: stop tokens may come where the text may end, and only there") {
  int num_ended_early = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    CoreDriver driver;
    RequestOptions options = with_grammar(toy_letters(), random_tokens(seed, 20));
    options.sampling = {.temperature = 1, .seed = seed};
    const auto& told = driver.run(options);
    check_output(told, alone(options));
    WL_CHECK(told.tokens.size() > 1);  // the empty text does not match
    WL_CHECK(told.tokens.back() == kToyEnd || told.tokens.back() == kToyOtherEnd);
    num_ended_early += toy_text(told.tokens).size() < 30;
    // Stop tokens that no vocabulary has are no way out, and do no harm.
    options.stop_token_ids = {-1, kToyVocab, 1 << 30, kToyEnd};
    check_output(driver.run(options), alone(options));
  }
  WL_CHECK(num_ended_early > 10);
}

WL_TEST("grammar: a cap inside of a forced run cuts it") {
  for (int cap = 1; cap < 12; ++cap) {
    for (const bool jumps : {true, false}) {
      CoreDriver driver;
      RequestOptions options = with_grammar(toy_phrase(), kPrompt, cap);
      options.jump_forward = jumps;
      const auto& told = driver.run(options);
      check_output(told, alone(options));
      WL_CHECK_EQ(told.tokens.size(), std::min(static_cast<size_t>(cap), told.tokens.size()));
    }
  }
  ToyEngineOptions small;
  small.config.max_context_tokens = 44;
  CoreDriver driver(small);
  const auto& told = driver.run(with_grammar(toy_phrase()));
  check_output(told, alone(with_grammar(toy_phrase()), 44));
  WL_CHECK_EQ(told.tokens.size(), size_t{4});
  WL_CHECK(told.finish == FinishReason::kLength);
}

/// Eight requests of all kinds in one engine, each checked against itself alone.
static uint64_t check_batched(const ToyEngineOptions& engine, int max_sequence_tokens) {
  CoreDriver driver(engine);
  std::vector<std::pair<RequestId, RequestOptions>> requests;
  for (unsigned i = 0; i < 8; ++i) {
    const ToyGrammar grammar = i % 4 == 0 ? nullptr : i % 4 == 1 ? toy_letters() : toy_object();
    RequestOptions options = with_grammar(grammar, random_tokens(i, 40 - static_cast<int>(i) * 3));
    options.max_output_tokens = 60;
    options.sampling = samplings()[i % samplings().size()];
    options.jump_forward = i != 3;
    if (i == 6) options.logits = LogitsMode::kSampled;
    requests.emplace_back(driver.submit(options), options);
  }
  driver.run_until_idle();
  for (const auto& [request, options] : requests) {
    check_output(driver.told(request), alone(options, max_sequence_tokens));
  }
  WL_CHECK(driver.core.stats().forced_tokens > 0);
  return driver.core.stats().num_preemptions;
}

WL_TEST("grammar: batched with others = alone") { check_batched({}, 1024); }

WL_TEST("grammar: runs cut by small chunks and budgets = whole") {
  for (const int chunk : {1, 2, 5}) {
    ToyEngineOptions options;
    options.config.max_prefill_chunk = chunk;
    check_batched(options, 1024);
  }
  for (const int budget : {1, 3, 9}) {
    ToyEngineOptions options;
    options.config.max_batch_tokens = budget;
    check_batched(options, 1024);
  }
}

WL_TEST("grammar: preempted requests go on where their texts stand") {
  ToyEngineOptions options;
  options.block_size = 4;
  options.num_blocks = 30;
  WL_CHECK(check_batched(options, 120) > 0);
}

WL_TEST("grammar: in windows runs of forced tokens = token by token") {
  ToyEngineOptions engine;
  engine.block_size = 4;
  engine.windowed_groups = {{9, 40}, {5, 12}};
  CoreDriver driver(engine);
  const RequestOptions options = with_grammar(toy_object());
  check_output(driver.run(options),
               expected_output(options.tokens, options, 1024, engine.windows()));
}

WL_TEST("grammar: a request that wants logits gets those of each token") {
  for (const LogitsMode mode : {LogitsMode::kSampled, LogitsMode::kAll}) {
    CoreDriver driver;
    RequestOptions options = with_grammar(toy_phrase());
    options.logits = mode;
    const auto& told = driver.run(options);
    const Output expected = alone(options);
    WL_CHECK(told.tokens == expected.tokens);
    const size_t num_rows = told.logits.size() / kToyVocab;
    WL_CHECK_EQ(num_rows, told.tokens.size() + (mode == LogitsMode::kAll ? kPrompt.size() - 1 : 0));
    const size_t num_before = told.logits.size() - expected.logits.size();
    WL_CHECK(std::equal(expected.logits.begin(), expected.logits.end(),
                        told.logits.begin() + static_cast<std::ptrdiff_t>(num_before)));
  }
}

WL_TEST("grammar: a continuation's grammar covers its own output only") {
  CoreDriver driver;
  RequestOptions first = with_grammar(toy_object());
  first.keep_sequence = true;
  const auto turn1 = driver.run(first);
  const SequenceId branch = driver.fork(turn1.sequence);

  RequestOptions more = with_grammar(toy_object(), random_tokens(2, 9));
  more.sampling = {.temperature = 1, .seed = 3};
  for (const SequenceId sequence : {turn1.sequence, branch}) {
    const RequestId request = driver.continue_sequence(sequence, more);
    driver.run_until_idle();
    const auto& turn2 = driver.told(request);
    check_output(turn2, expected_output(kPrompt + turn1.tokens + more.tokens, more, 1024));
    WL_CHECK(matches(more.grammar, turn2.tokens));
    if (sequence == branch) continue;  // it hits what the other one computed
    WL_CHECK(turn2.is_live_hit);
    WL_CHECK_EQ(turn2.cached_tokens, static_cast<int>(kPrompt.size() + turn1.tokens.size()) - 1);
  }
}

/// Steps a request to the one that ends it.
static void step_to_end(CoreDriver& driver, RequestId request) {
  while (driver.told(request).num_finishes == 0) driver.step();
}

WL_TEST(
    "grammar: a turn that ends in forced tokens is told at once and computed to its last token") {
  for (const bool is_continued_at_once : {true, false}) {
    CoreDriver driver;
    RequestOptions options = with_grammar(toy_phrase());
    options.keep_sequence = true;
    const RequestId request = driver.submit(options);
    step_to_end(driver, request);
    const auto told = driver.told(request);
    check_output(told, alone(options));
    const int num_tokens = static_cast<int>(kPrompt.size() + told.tokens.size());
    WL_CHECK_EQ(driver.runner.num_steps, 1);
    WL_CHECK_EQ(driver.live_tokens[told.sequence], num_tokens);
    if (!is_continued_at_once) driver.run_until_idle();
    const RequestOptions more = with_grammar(toy_object(), random_tokens(2, 9));
    const RequestId next = driver.continue_sequence(told.sequence, more);
    driver.run_until_idle();
    check_output(driver.told(next),
                 expected_output(kPrompt + told.tokens + more.tokens, more, 1024));
    WL_CHECK_EQ(driver.told(next).cached_tokens, num_tokens - 1);
    WL_CHECK(driver.told(next).is_live_hit);
  }
}

WL_TEST("grammar: what a forced end leaves to compute can be released, and gives way to requests") {
  ToyEngineOptions small;
  small.num_blocks = 6;
  small.config.max_context_tokens = 80;
  small.config.max_batch_tokens = 2;
  CoreDriver driver(small);
  RequestOptions options = with_grammar(toy_phrase(), random_tokens(1, 20));
  options.keep_sequence = true;
  const RequestId released = driver.submit(options);
  step_to_end(driver, released);
  driver.release(driver.told(released).sequence);
  driver.run_until_idle();
  WL_CHECK(!driver.is_live(driver.told(released).sequence));

  const RequestId first = driver.submit(options);
  const RequestOptions large = make_request(random_tokens(3, 60), 12);
  const RequestId second = driver.submit(large);
  driver.run_until_idle();
  check_output(driver.told(first), alone(options));
  check_output(driver.told(second), alone(large));
}

WL_TEST("grammar: a text that the vocabulary cannot spell fails its request, not the others") {
  CoreDriver driver;
  const ToyGrammar unspellable =
      compile_toy(wl::grammar::sequence({characters("ab", 1, 1), wl::grammar::literal("Zebra")}));
  for (const bool jumps : {true, false}) {
    RequestOptions options = with_grammar(unspellable);
    options.keep_sequence = true;
    options.jump_forward = jumps;
    const RequestId failing = driver.submit(options);
    const RequestId other = driver.submit(with_grammar(toy_object(), random_tokens(2, 30)));
    driver.run_until_idle();
    WL_CHECK(driver.told(failing).finish == FinishReason::kFailed);
    WL_CHECK(driver.told(failing).error == ErrorCode::kGrammar);
    WL_CHECK(!driver.is_live(driver.told(failing).sequence));
    check_output(driver.told(other), alone(with_grammar(toy_object(), random_tokens(2, 30))));
  }
}

WL_TEST("grammar: an abort ends a request in the middle of a forced run") {
  ToyEngineOptions small;
  small.config.max_batch_tokens = 2;
  CoreDriver driver(small);
  const RequestId request = driver.submit(with_grammar(toy_object()));
  while (driver.told(request).tokens.empty()) driver.step();
  driver.step();  // computes a part of the run
  driver.abort(request);
  driver.run_until_idle();
  WL_CHECK(driver.told(request).finish == FinishReason::kAborted);
  const Output whole = alone(with_grammar(toy_object()));
  const Tokens& got = driver.told(request).tokens;
  WL_CHECK(got.size() < whole.tokens.size());
  WL_CHECK(std::equal(got.begin(), got.end(), whole.tokens.begin()));
}

WL_TEST("grammar: forced runs hold up no other request") {
  ToyEngineOptions small;
  small.config.max_batch_tokens = 3;
  CoreDriver driver(small);
  std::vector<RequestId> requests;
  for (unsigned i = 0; i < 2; ++i) {
    requests.push_back(driver.submit(with_grammar(toy_object(), random_tokens(i, 6))));
  }
  const RequestId free = driver.submit(make_request(random_tokens(5, 6), 20));
  while (driver.told(free).tokens.empty()) driver.step();
  const int num_steps = driver.runner.num_steps;
  while (driver.told(free).num_finishes == 0) driver.step();
  WL_CHECK_EQ(driver.runner.num_steps - num_steps, 19);  // a token a step
  driver.run_until_idle();
}

WL_TEST("grammar: one over a larger vocabulary than the model's is refused") {
  const wl::engine::RequestLimits limits = {.vocab = 20, .max_sequence_tokens = 100};
  RequestOptions options = with_grammar(toy_object(), {1, 2, 3});
  const wl::Status status = validate(options, limits, 0);
  WL_CHECK(!status.ok() && status.error().code == ErrorCode::kInvalidArgument);
  WL_CHECK_EQ(status.error().message,
              "the grammar is over a vocabulary of 58 tokens, the model has 20");
}
