// Models with sliding windows: equality however a request is run, and memory that is given back.

#include "core_driver.h"

using namespace wl::test;

namespace {

const Tokens kPrompt = random_tokens(1, 100);

/// Groups of the kinds of models there are: full attention with one window or two, windows alone.
std::vector<ToyEngineOptions> windowed_models() {
  ToyEngineOptions mixed, two_windows, windows_only;
  mixed.windowed_groups = {{24, 32}};
  two_windows.windowed_groups = {{40, 32}, {7, 24}};
  windows_only.window = 24;
  return {mixed, two_windows, windows_only};
}

RequestOptions with_logits(Tokens tokens, int max_output_tokens = 24) {
  RequestOptions options = make_request(std::move(tokens), max_output_tokens);
  options.logits = wl::engine::LogitsMode::kSampled;
  return options;
}

RequestOptions kept(Tokens tokens, int max_output_tokens = 8) {
  RequestOptions options = with_logits(std::move(tokens), max_output_tokens);
  options.keep_sequence = true;
  return options;
}

Output expected(const Tokens& prompt, int max_output_tokens, const ToyEngineOptions& options) {
  return expected_output(prompt, make_request({}, max_output_tokens), 1024, options.windows());
}

}  // namespace

WL_TEST("window: batched with seven others = alone") {
  for (const ToyEngineOptions& options : windowed_models()) {
    CoreDriver driver(options);
    std::vector<std::pair<RequestId, Tokens>> requests;
    for (unsigned i = 0; i < 8; ++i) {
      const Tokens prompt = random_tokens(i, 100 - static_cast<int>(i) * 9);
      requests.push_back({driver.submit(with_logits(prompt)), prompt});
    }
    driver.run_until_idle();
    for (const auto& [request, prompt] : requests) {
      check_output(driver.told(request), expected(prompt, 24, options));
    }
  }
}

WL_TEST("window: prefilled in chunks of 1, 7 and 64 = in one") {
  for (ToyEngineOptions options : windowed_models()) {
    for (const int chunk : {0, 1, 7, 64}) {
      options.config.max_prefill_chunk = chunk;
      CoreDriver driver(options);
      check_output(driver.run(with_logits(kPrompt)), expected(kPrompt, 24, options));
    }
  }
}

WL_TEST("window: from cached blocks = computed, and only the tail is computed") {
  for (const ToyEngineOptions& options : windowed_models()) {
    CoreDriver driver(options);
    driver.run(with_logits(kPrompt));
    const auto& told = driver.run(with_logits(kPrompt));
    check_output(told, expected(kPrompt, 24, options));
    WL_CHECK_EQ(told.cached_tokens, 96);
  }
}

WL_TEST("window: continued on a live sequence = submitted whole, and all but one token is cached") {
  for (const ToyEngineOptions& options : windowed_models()) {
    CoreDriver driver(options);
    Tokens history = kPrompt;
    auto turn = driver.run(kept(kPrompt));
    for (unsigned i = 0; i < 12; ++i) {
      history = history + turn.tokens;
      const Tokens more = random_tokens(20 + i, 11);
      const RequestId request = driver.continue_sequence(turn.sequence, kept(more));
      driver.run_until_idle();
      history = history + more;
      turn = driver.told(request);
      check_output(turn, expected(history, 8, options));
      WL_CHECK_EQ(turn.cached_tokens, turn.prompt_tokens - 12);
      WL_CHECK(turn.is_live_hit);
    }
  }
}

WL_TEST("window: forks of a live sequence = submitted whole") {
  for (const ToyEngineOptions& options : windowed_models()) {
    CoreDriver driver(options);
    const auto turn = driver.run(kept(kPrompt));
    const SequenceId left = driver.fork(turn.sequence), right = driver.fork(turn.sequence);
    std::vector<std::pair<RequestId, Tokens>> branches;
    unsigned seed = 10;
    for (const SequenceId sequence : {turn.sequence, left, right}) {
      const Tokens more = random_tokens(seed++, 40);
      branches.push_back({driver.continue_sequence(sequence, with_logits(more)), more});
    }
    driver.run_until_idle();
    for (const auto& [request, more] : branches) {
      check_output(driver.told(request), expected(kPrompt + turn.tokens + more, 24, options));
      WL_CHECK_EQ(driver.told(request).cached_tokens, 107);
    }
    WL_CHECK_EQ(driver.runner.num_copies, 2 * static_cast<int>(options.groups().size()));
  }
}

WL_TEST("window: a fork at any length of a live sequence = submitted whole") {
  for (const ToyEngineOptions& options : windowed_models()) {
    CoreDriver driver(options);
    const auto turn = driver.run(kept(kPrompt));
    const Tokens history = kPrompt + turn.tokens;
    const Tokens more = random_tokens(12, 5);
    for (const int num_tokens : {107, 97, 96, 80, 40, 1}) {
      const SequenceId branch = driver.fork(turn.sequence, num_tokens);
      const RequestId request = driver.continue_sequence(branch, with_logits(more));
      driver.run_until_idle();
      const Tokens kept_tokens(history.begin(), history.begin() + num_tokens);
      check_output(driver.told(request), expected(kept_tokens + more, 24, options));
    }
  }
}

WL_TEST("window: a client goes back to the end of any earlier turn and finds its KV") {
  for (ToyEngineOptions options : windowed_models()) {
    options.num_blocks = 128;
    for (auto& group : options.windowed_groups) group.num_blocks = 80;
    CoreDriver driver(options);
    std::vector<Tokens> turns = {kPrompt};  // the history at the end of each turn's prompt
    auto turn = driver.run(kept(kPrompt));
    for (unsigned i = 0; i < 6; ++i) {
      const Tokens more = random_tokens(40 + i, 50);
      turns.push_back(turns.back() + turn.tokens + more);
      const RequestId request = driver.continue_sequence(turn.sequence, kept(more));
      driver.run_until_idle();
      turn = driver.told(request);
    }
    for (const Tokens& prompt : turns) {  // the same turn again
      const auto& retry = driver.run(with_logits(prompt));
      check_output(retry, expected(prompt, 24, options));
      WL_CHECK_EQ(retry.cached_tokens, (static_cast<int>(prompt.size()) - 1) / 16 * 16);
    }
    for (const Tokens& prompt : turns) {  // another turn after its answer
      const Tokens whole = prompt + expected(prompt, 8, options).tokens + random_tokens(99, 30);
      const auto& other = driver.run(with_logits(whole));
      check_output(other, expected(whole, 24, options));
      WL_CHECK(other.cached_tokens >= static_cast<int>(prompt.size() + 7) / 16 * 16);
    }
  }
}

WL_TEST("window: a long turn does not push out the windows where the turns before it ended") {
  ToyEngineOptions options;
  options.windowed_groups = {{24, 20}};
  options.config.max_prefill_chunk = 48;
  CoreDriver driver(options);
  const auto turn = driver.run(kept(kPrompt, 61));
  const Tokens answered = kPrompt + turn.tokens;
  driver.continue_sequence(turn.sequence, kept(random_tokens(2, 600), 1));
  driver.run_until_idle();
  const Tokens other = answered + random_tokens(3, 20);
  WL_CHECK_EQ(driver.run(with_logits(other, 1)).cached_tokens, 160);
  WL_CHECK_EQ(driver.run(with_logits(kPrompt, 1)).cached_tokens, 96);
}

WL_TEST("window: prompts that share more than a window compute the shared part once") {
  for (const ToyEngineOptions& options : windowed_models()) {
    CoreDriver driver(options);
    const Tokens shared = random_tokens(1, 400);
    std::vector<std::pair<RequestId, Tokens>> requests;
    for (unsigned i = 0; i < 4; ++i) {
      const Tokens prompt = shared + random_tokens(10 + i, 100);
      requests.push_back({driver.submit(with_logits(prompt, 1)), prompt});
    }
    driver.run_until_idle();
    WL_CHECK_EQ(driver.core.stats().prefill_tokens, uint64_t{500 + 3 * 100});
    for (const auto& [request, prompt] : requests) {
      check_output(driver.told(request), expected(prompt, 1, options));
    }
  }
}

WL_TEST("window: a sequence takes the blocks of a window and a chunk, however long it gets") {
  ToyEngineOptions options;
  options.windowed_groups = {{24, 5}};  // 2 + 1 + 2: chunks of at most 33 tokens
  CoreDriver driver(options);
  const Tokens prompt = random_tokens(3, 700);
  check_output(driver.run(with_logits(prompt, 100)), expected(prompt, 100, options));
  WL_CHECK_EQ(driver.runner.largest_batch, 33);
  WL_CHECK_EQ(driver.core.stats().num_preemptions, uint64_t{0});
}

WL_TEST("window: without full attention the blocks do not bound the context") {
  ToyEngineOptions options;
  options.window = 24;
  options.num_blocks = 4;
  CoreDriver driver(options);
  const Tokens prompt = random_tokens(3, 500);
  check_output(driver.run(with_logits(prompt, 100)), expected(prompt, 100, options));
}

WL_TEST("window: when windows run short the request that came last is preempted and goes on") {
  ToyEngineOptions options;
  options.windowed_groups = {{24, 8}};
  options.config.max_batch_tokens = 32;
  CoreDriver driver(options);
  std::vector<std::pair<RequestId, Tokens>> requests;
  for (unsigned i = 0; i < 4; ++i) {
    const Tokens prompt = random_tokens(i, 20);
    requests.push_back({driver.submit(with_logits(prompt, 120)), prompt});
  }
  driver.run_until_idle();
  WL_CHECK(driver.core.stats().num_preemptions > 0);
  for (const auto& [request, prompt] : requests) {
    check_output(driver.told(request), expected(prompt, 120, options));
  }
  WL_CHECK_EQ(driver.told(requests[0].first).preempted_tokens, 0);
}

WL_TEST("window: live sequences give up their windows, the oldest first, before any preemption") {
  ToyEngineOptions options;
  options.windowed_groups = {{24, 9}};
  CoreDriver driver(options);
  std::vector<SequenceId> sequences;
  for (unsigned i = 0; i < 3; ++i) {
    sequences.push_back(driver.run(kept(random_tokens(30 + i, 40))).sequence);
  }
  const Tokens prompt = random_tokens(40, 60);
  check_output(driver.run(with_logits(prompt, 4)), expected(prompt, 4, options));
  WL_CHECK(!driver.is_live(sequences[0]));
  WL_CHECK(driver.is_live(sequences[2]));
  WL_CHECK_EQ(driver.core.stats().num_preemptions, uint64_t{0});
}

WL_TEST("window: statistics speak of the group that is fullest") {
  ToyEngineOptions options;
  options.windowed_groups = {{24, 16}};
  CoreDriver driver(options);
  driver.submit(with_logits(random_tokens(1, 40), 100));
  driver.step();
  WL_CHECK_EQ(driver.core.stats().num_blocks, 16);  // 3 of 16, and 3 of 64
  WL_CHECK_EQ(driver.core.stats().num_free_blocks, 13);
  driver.run_until_idle();
  WL_CHECK_EQ(driver.core.stats().num_free_blocks, driver.core.stats().num_blocks);
}

WL_TEST("window: without the prefix cache blocks are given back all the same") {
  ToyEngineOptions options;
  options.windowed_groups = {{24, 5}};
  options.config.enable_prefix_cache = false;
  CoreDriver driver(options);
  const Tokens prompt = random_tokens(3, 300);
  check_output(driver.run(with_logits(prompt, 50)), expected(prompt, 50, options));
}

WL_TEST("window: logits that are not finite fail their request, its blocks are not reused") {
  for (const ToyEngineOptions& options : windowed_models()) {
    CoreDriver driver(options);
    const Tokens poisoned = random_tokens(1, 40) + Tokens{kToyPoison} + random_tokens(2, 15);
    WL_CHECK(driver.run(make_request(poisoned, 5)).finish == FinishReason::kFailed);
    WL_CHECK_EQ(driver.run(make_request(poisoned, 5)).cached_tokens, 0);
  }
}
