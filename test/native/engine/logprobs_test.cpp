// Log probabilities: the same values alone, batched, chunked, cached, preempted or jumped over, of
// every output token and of the prompt where it was asked for.

#include <limits>

#include "engine/request_limits.h"
#include "toy_grammar.h"

using namespace wl::test;
using wl::ErrorCode;
using wl::sampling::LogprobRows;

static const Tokens kPrompt = random_tokens(1, 100);

static RequestOptions with_logprobs(Tokens tokens, bool of_prompt = false,
                                    int max_output_tokens = 24) {
  RequestOptions options = make_request(std::move(tokens), max_output_tokens);
  options.logprobs = {.num_top = 3, .of_prompt = of_prompt};
  return options;
}

static void check_rows(const CoreDriver::Told& told, const Tokens& prompt, bool of_prompt) {
  const LogprobRows expected =
      expected_logprobs(prompt + told.tokens, of_prompt ? 1 : prompt.size(), 3);
  WL_CHECK(told.logprobs.tokens == expected.tokens);
  WL_CHECK(told.logprobs.logprobs == expected.logprobs);
}

WL_TEST("logprobs: of output alone and of the prompt too, and none unasked") {
  for (const bool of_prompt : {false, true}) {
    CoreDriver driver;
    const auto& told = driver.run(with_logprobs(kPrompt, of_prompt));
    WL_CHECK_EQ(told.tokens.size(), size_t{24});
    check_rows(told, kPrompt, of_prompt);
  }
  CoreDriver driver;
  WL_CHECK(driver.run(make_request(kPrompt)).logprobs.tokens.empty());
}

WL_TEST("logprobs: batched = alone, and prompts whose rows are wanted share 64 of a step") {
  CoreDriver driver;
  std::vector<RequestId> requests;
  const auto prompt_of = [](unsigned i) { return random_tokens(i, 100 - 9 * static_cast<int>(i)); };
  for (unsigned i = 0; i < 8; ++i) {
    requests.push_back(driver.submit(with_logprobs(prompt_of(i), i % 2 == 0)));
  }
  driver.run_until_idle();
  for (unsigned i = 0; i < 8; ++i) check_rows(driver.told(requests[i]), prompt_of(i), i % 2 == 0);
  WL_CHECK(driver.runner.max_logit_rows <= 64 + 8);
}

WL_TEST("logprobs: chunked = whole") {
  for (const int chunk : {1, 7, 64}) {
    ToyEngineOptions options;
    options.config.max_prefill_chunk = chunk;
    CoreDriver driver(options);
    check_rows(driver.run(with_logprobs(kPrompt, true)), kPrompt, true);
  }
}

WL_TEST("logprobs: output from a cached prompt = computed, and a prompt's own are computed again") {
  CoreDriver driver;
  driver.run(make_request(kPrompt));
  const auto cached = driver.run(with_logprobs(kPrompt));
  WL_CHECK_EQ(cached.cached_tokens, 96);
  check_rows(cached, kPrompt, false);
  const auto scored = driver.run(with_logprobs(kPrompt, true));
  WL_CHECK_EQ(scored.cached_tokens, 0);
  check_rows(scored, kPrompt, true);
}

WL_TEST("logprobs: a prompt that is only read has its own, without a row for what would follow") {
  CoreDriver driver;
  RequestOptions options = with_logprobs(kPrompt, true, 0);
  options.prefill_only = true;
  const auto& told = driver.run(options);
  WL_CHECK(told.finish == FinishReason::kPrefilled);
  check_rows(told, kPrompt, true);
}

WL_TEST("logprobs: preempted requests report every row once") {
  ToyEngineOptions options;
  options.num_blocks = 12;
  CoreDriver driver(options);
  std::vector<RequestId> requests;
  for (unsigned i = 0; i < 3; ++i) {
    requests.push_back(driver.submit(with_logprobs(random_tokens(i, 40), i != 1, 100)));
  }
  driver.run_until_idle();
  WL_CHECK(driver.core.stats().num_preemptions > 0);
  for (unsigned i = 0; i < 3; ++i) {
    check_rows(driver.told(requests[i]), random_tokens(i, 40), i != 1);
  }
}

WL_TEST("logprobs: continued on a live sequence = submitted whole") {
  CoreDriver driver;
  RequestOptions first = make_request(kPrompt, 10);
  first.keep_sequence = true;
  const auto turn1 = driver.run(first);
  const Tokens more = random_tokens(2, 21);
  const RequestId request = driver.continue_sequence(turn1.sequence, with_logprobs(more));
  driver.run_until_idle();
  check_rows(driver.told(request), kPrompt + turn1.tokens + more, false);
}

WL_TEST("logprobs: the same output as without, and those of the model where a grammar forces") {
  for (const ToyGrammar& grammar : {toy_object(), toy_phrase()}) {
    CoreDriver driver;
    RequestOptions options = with_logprobs(kPrompt, false, 100);
    options.grammar = grammar;
    options.stop_token_ids = {kToyEnd};
    const auto& told = driver.run(options);
    check_rows(told, kPrompt, false);
    options.logprobs.reset();
    CoreDriver jumping;
    check_output(told, jumping.run(options));
    WL_CHECK(jumping.core.stats().forced_tokens > 0);
  }
}

WL_TEST("logprobs: a prompt whose logits are not finite fails where that is seen, and alone") {
  CoreDriver driver;
  RequestOptions options = with_logprobs(random_tokens(3, 20) + Tokens{kToyPoison, 1}, true, 0);
  options.prefill_only = true;
  const RequestId bad = driver.submit(options);
  const RequestId good = driver.submit(with_logprobs(kPrompt, true));
  driver.run_until_idle();
  WL_CHECK(driver.told(bad).finish == FinishReason::kFailed);
  WL_CHECK(driver.told(bad).error == ErrorCode::kEngineFailed);
  check_rows(driver.told(good), kPrompt, true);
}

WL_TEST("logprobs: what is out of range is refused by name") {
  const wl::engine::RequestLimits limits{.vocab = kToyVocab, .max_sequence_tokens = 1024};
  RequestOptions options = with_logprobs(kPrompt);
  WL_CHECK(wl::engine::validate(options, limits, 0).ok());
  for (const int num_top : {-1, 21}) {
    options.logprobs->num_top = num_top;
    WL_CHECK(wl::engine::validate(options, limits, 0).error().code == ErrorCode::kInvalidArgument);
  }
  options = make_request(kPrompt);
  for (const int32_t token : {-1, int32_t{kToyVocab}}) {
    options.sampling.logit_bias = {{token, 1}};
    WL_CHECK(wl::engine::validate(options, limits, 0).error().code == ErrorCode::kInvalidArgument);
  }
  options.sampling.logit_bias = {{0, std::numeric_limits<double>::infinity()}};
  WL_CHECK(wl::engine::validate(options, limits, 0).error().code == ErrorCode::kInvalidArgument);
}
