// What was batched beside a request, how its prompt was cut, and where its KV came from must not
// change a token or a logit.

#include "core_driver.h"

using namespace wl::test;
using wl::engine::LogitsMode;

static RequestOptions with_logits(Tokens tokens, int max_output_tokens = 24) {
  RequestOptions options = make_request(std::move(tokens), max_output_tokens);
  options.logits = LogitsMode::kSampled;
  return options;
}

static const Tokens kPrompt = random_tokens(1, 100);

WL_TEST("engine: a request alone gives what the model gives without an engine") {
  CoreDriver driver;
  const auto& told = driver.run(with_logits(kPrompt));
  check_output(told, expected_output(kPrompt, with_logits(kPrompt), 1024));
  WL_CHECK_EQ(told.tokens.size(), size_t{24});
  WL_CHECK_EQ(driver.runner.num_logit_rows, 24);  // none for the prompt's other tokens
  WL_CHECK_EQ(driver.runner.num_tokens, 100 + 23);
}

WL_TEST("engine: batched with seven others = alone") {
  CoreDriver driver;
  std::vector<RequestId> requests;
  for (unsigned i = 0; i < 8; ++i) {
    requests.push_back(driver.submit(with_logits(random_tokens(i, 100 - static_cast<int>(i) * 9))));
  }
  driver.run_until_idle();
  for (unsigned i = 0; i < 8; ++i) {
    const Tokens prompt = random_tokens(i, 100 - static_cast<int>(i) * 9);
    check_output(driver.told(requests[i]), expected_output(prompt, with_logits(prompt), 1024));
  }
  WL_CHECK_EQ(driver.runner.num_steps, 25);  // the prompts take two steps of 512 tokens
}

WL_TEST("engine: prefilled in chunks of 1, 7 and 64 = in one") {
  for (const int chunk : {1, 7, 64}) {
    ToyEngineOptions options;
    options.config.max_prefill_chunk = chunk;
    CoreDriver driver(options);
    check_output(driver.run(with_logits(kPrompt)),
                 expected_output(kPrompt, with_logits(kPrompt), 1024));
    WL_CHECK_EQ(driver.runner.num_logit_rows, 24);
  }
}

WL_TEST("engine: from cached blocks = computed, and only the tail is computed") {
  CoreDriver driver;
  driver.run(with_logits(kPrompt));
  const int num_tokens_before = driver.runner.num_tokens;
  const auto& told = driver.run(with_logits(kPrompt));
  check_output(told, expected_output(kPrompt, with_logits(kPrompt), 1024));
  WL_CHECK_EQ(told.cached_tokens, 96);
  WL_CHECK_EQ(told.prompt_tokens, 100);
  WL_CHECK(!told.is_live_hit);
  WL_CHECK_EQ(driver.runner.num_tokens - num_tokens_before, 4 + 23);
}

WL_TEST("engine: the answer of a finished request is cached too") {
  CoreDriver driver;
  const Tokens answer = driver.run(make_request(kPrompt, 40)).tokens;
  const auto& told = driver.run(with_logits(kPrompt + answer + random_tokens(5, 3)));
  WL_CHECK_EQ(told.cached_tokens, 128);  // 139 tokens have KV: 8 whole blocks
}

WL_TEST("engine: a preempted request keeps its emitted tokens and goes on as if alone") {
  ToyEngineOptions options;
  options.num_blocks = 12;
  CoreDriver driver(options);
  std::vector<RequestId> requests;
  for (unsigned i = 0; i < 3; ++i) {
    requests.push_back(driver.submit(with_logits(random_tokens(i, 40), 100)));
  }
  driver.run_until_idle();
  WL_CHECK(driver.core.stats().num_preemptions > 0);
  int num_preempted_tokens = 0;
  for (unsigned i = 0; i < 3; ++i) {
    const auto& told = driver.told(requests[i]);
    const Tokens prompt = random_tokens(i, 40);
    check_output(told, expected_output(prompt, with_logits(prompt, 100), 192));
    WL_CHECK_EQ(told.num_admissions, 1);
    num_preempted_tokens += told.preempted_tokens;
  }
  WL_CHECK(num_preempted_tokens > 0);
}

WL_TEST("engine: continued on a live sequence = submitted whole, and all but one token is cached") {
  CoreDriver driver;
  RequestOptions first = make_request(kPrompt, 10);
  first.keep_sequence = true;
  const auto turn1 = driver.run(first);
  WL_CHECK(driver.is_live(turn1.sequence));
  WL_CHECK_EQ(driver.live_tokens[turn1.sequence], 110);

  const Tokens more = random_tokens(2, 21);
  const RequestId request = driver.continue_sequence(turn1.sequence, with_logits(more));
  driver.run_until_idle();
  const auto& turn2 = driver.told(request);
  check_output(turn2, expected_output(kPrompt + turn1.tokens + more, with_logits(more), 1024));
  WL_CHECK_EQ(turn2.prompt_tokens, 131);
  WL_CHECK_EQ(turn2.cached_tokens, 109);  // the last sampled token was never fed
  WL_CHECK(turn2.is_live_hit);
  WL_CHECK(!driver.is_live(turn2.sequence));  // not kept
}

WL_TEST("engine: forks of a live sequence = submitted whole, and share its blocks") {
  CoreDriver driver;
  RequestOptions first = make_request(kPrompt, 10);
  first.keep_sequence = true;
  const auto turn1 = driver.run(first);
  const int num_free = driver.core.stats().num_free_blocks;
  const SequenceId left = driver.fork(turn1.sequence), right = driver.fork(turn1.sequence);
  WL_CHECK_EQ(driver.core.stats().num_free_blocks, num_free);

  std::vector<std::pair<RequestId, Tokens>> branches;
  unsigned seed = 10;
  for (const SequenceId sequence : {turn1.sequence, left, right}) {
    const Tokens more = random_tokens(seed++, 5);
    branches.push_back({driver.continue_sequence(sequence, with_logits(more)), more});
  }
  driver.run_until_idle();
  for (const auto& [request, more] : branches) {
    check_output(driver.told(request),
                 expected_output(kPrompt + turn1.tokens + more, with_logits(more), 1024));
    WL_CHECK_EQ(driver.told(request).cached_tokens, 109);
  }
  WL_CHECK_EQ(driver.runner.num_copies, 2);  // the last of the three holders writes in place
}

WL_TEST("engine: a seeded sampled request gives the same tokens however it is run") {
  const auto sampled = [](Tokens tokens) {
    RequestOptions options = with_logits(std::move(tokens));
    options.sampling = {.temperature = 0.9,
                        .top_k = 30,
                        .top_p = 0.95,
                        .min_p = 0.01,
                        .repetition_penalty = 1.1,
                        .frequency_penalty = 0.2,
                        .presence_penalty = 0.1,
                        .seed = 1234};
    return options;
  };
  const Output expected = expected_output(kPrompt, sampled(kPrompt), 1024);
  CoreDriver driver;
  check_output(driver.run(sampled(kPrompt)), expected);
  check_output(driver.run(sampled(kPrompt)), expected);  // from cache
  ToyEngineOptions chunked;
  chunked.config.max_prefill_chunk = 7;
  CoreDriver other(chunked);
  other.submit(make_request(random_tokens(9, 50), 30));
  const RequestId request = other.submit(sampled(kPrompt));
  other.run_until_idle();
  check_output(other.told(request), expected);
}

WL_TEST("engine: all logits of a prompt come once, in position order, also after preemption") {
  ToyEngineOptions options;
  options.num_blocks = 8;
  options.config.max_prefill_chunk = 30;
  CoreDriver driver(options);
  const RequestId other = driver.submit(make_request(random_tokens(3, 30), 60));
  RequestOptions all = make_request(random_tokens(4, 50), 60);
  all.logits = LogitsMode::kAll;
  const RequestId request = driver.submit(all);
  driver.run_until_idle();
  WL_CHECK(driver.core.stats().num_preemptions > 0);
  WL_CHECK_EQ(driver.told(other).tokens.size(), size_t{60});
  const auto& told = driver.told(request);
  Tokens sequence = random_tokens(4, 50) + told.tokens;
  sequence.pop_back();
  ToyModel model({0});
  std::vector<float> rows;
  for (const int32_t token : sequence) {
    rows.resize(rows.size() + kToyVocab);
    toy_logits(model.append(token), rows.data() + rows.size() - kToyVocab);
  }
  WL_CHECK(told.logits == rows);
}
