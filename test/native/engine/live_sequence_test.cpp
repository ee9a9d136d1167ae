// Sequences that outlive their request: continue, fork, release, and what memory pressure does.

#include "core_driver.h"

using namespace wl::test;
using wl::ErrorCode;

static RequestOptions kept(Tokens tokens, int max_output_tokens = 4) {
  RequestOptions options = make_request(std::move(tokens), max_output_tokens);
  options.keep_sequence = true;
  return options;
}

static RequestOptions warmup(Tokens tokens) {
  RequestOptions options = kept(std::move(tokens), 0);
  options.prefill_only = true;
  return options;
}

static ToyEngineOptions one_slot() {
  ToyEngineOptions options;
  options.config.max_running = 1;
  return options;
}

/// What comes next waits.
static void take_slot(CoreDriver& driver) {
  driver.submit(make_request(random_tokens(7, 10), 5));
  driver.step();
}

static const Tokens kPrompt = random_tokens(1, 40);
static const Tokens kMore = random_tokens(2, 9);

WL_TEST("live: a sequence goes on over many turns and computes only what is new") {
  CoreDriver driver;
  Tokens history = kPrompt;
  auto turn = driver.run(kept(kPrompt));
  for (unsigned i = 0; i < 5; ++i) {
    history = history + turn.tokens;
    const Tokens more = random_tokens(20 + i, 7);
    const int num_tokens_before = driver.runner.num_tokens;
    const RequestId request = driver.continue_sequence(turn.sequence, kept(more));
    driver.run_until_idle();
    history = history + more;
    turn = driver.told(request);
    check_output(turn, expected_output(history, make_request({}, 4), 1024));
    WL_CHECK_EQ(turn.cached_tokens, turn.prompt_tokens - 8);
    WL_CHECK_EQ(driver.runner.num_tokens - num_tokens_before, 8 + 3);
  }
}

WL_TEST("live: a warmup computes the prompt, samples nothing and can be continued") {
  CoreDriver driver;
  const auto warm = driver.run(warmup(kPrompt));
  WL_CHECK(warm.finish == FinishReason::kPrefilled);
  WL_CHECK(warm.tokens.empty());
  WL_CHECK_EQ(driver.runner.num_logit_rows, 0);
  const RequestId request = driver.continue_sequence(warm.sequence, make_request(kMore, 4));
  driver.run_until_idle();
  WL_CHECK_EQ(driver.told(request).cached_tokens, 40);
  check_output(driver.told(request), expected_output(kPrompt + kMore, make_request({}, 4), 1024));
}

WL_TEST("live: a continuation takes what another sequence computed beyond it") {
  CoreDriver driver;
  const auto warm = driver.run(warmup(kPrompt));
  const Tokens longer = random_tokens(9, 50);
  driver.run(make_request(kPrompt + longer, 4));
  const RequestId request = driver.continue_sequence(warm.sequence, kept(longer + kMore));
  driver.run_until_idle();
  const auto& turn = driver.told(request);
  const int block_size = ToyEngineOptions{}.block_size;
  WL_CHECK_EQ(turn.cached_tokens, 90 / block_size * block_size);
  WL_CHECK(!turn.is_live_hit);
  check_output(turn, expected_output(kPrompt + longer + kMore, make_request({}, 4), 1024));
}

WL_TEST("live: a continuation of a sequence whose prompt is being computed joins it") {
  ToyEngineOptions options;
  options.config.max_batch_tokens = 10;
  CoreDriver driver(options);
  const RequestId warm = driver.submit(warmup(kPrompt));
  driver.step();
  const RequestId request =
      driver.continue_sequence(driver.told(warm).sequence, make_request(kMore, 4));
  driver.run_until_idle();
  WL_CHECK(driver.told(warm).finish == FinishReason::kPrefilled);
  WL_CHECK_EQ(driver.told(request).cached_tokens, 40);
  WL_CHECK_EQ(driver.core.stats().prefill_tokens, uint64_t{49});
  check_output(driver.told(request), expected_output(kPrompt + kMore, make_request({}, 4), 1024));
}

WL_TEST("live: forks and continuations of a busy sequence take their turns in order") {
  ToyEngineOptions options;
  options.config.max_batch_tokens = 10;
  CoreDriver driver(options);
  const RequestId warm = driver.submit(warmup(kPrompt));
  driver.step();
  const SequenceId trunk = driver.told(warm).sequence;
  const SequenceId branch = driver.fork(trunk);
  const Tokens other = random_tokens(3, 9);
  const RequestId on_branch = driver.continue_sequence(branch, make_request(other, 4));
  const RequestId on_trunk = driver.continue_sequence(trunk, make_request(kMore, 4));
  driver.run_until_idle();
  check_output(driver.told(on_trunk), expected_output(kPrompt + kMore, make_request({}, 4), 1024));
  check_output(driver.told(on_branch), expected_output(kPrompt + other, make_request({}, 4), 1024));
  WL_CHECK_EQ(driver.core.stats().prefill_tokens, uint64_t{40 + 9 + 9});
}

WL_TEST("live: a fork at the end of an earlier turn computes and hashes only what is new") {
  CoreDriver driver;
  const auto turn1 = driver.run(kept(kPrompt));
  const RequestId second = driver.continue_sequence(turn1.sequence, kept(kMore));
  driver.run_until_idle();
  const int num_turn1 = static_cast<int>((kPrompt + turn1.tokens).size());
  const SequenceId branch = driver.fork(driver.told(second).sequence, num_turn1);
  const uint64_t num_hashed = driver.core.stats().hashed_tokens;
  const int num_tokens_before = driver.runner.num_tokens;
  const Tokens other = random_tokens(3, 9);
  const RequestId request = driver.continue_sequence(branch, kept(other));
  driver.run_until_idle();
  const auto& turn = driver.told(request);
  check_output(turn, expected_output(kPrompt + turn1.tokens + other, make_request({}, 4), 1024));
  WL_CHECK_EQ(turn.cached_tokens, num_turn1);  // the last sampled token was fed by the second turn
  WL_CHECK(turn.is_live_hit);
  WL_CHECK_EQ(driver.runner.num_tokens - num_tokens_before, 9 + 3);
  const int block_size = ToyEngineOptions{}.block_size;
  WL_CHECK(driver.core.stats().hashed_tokens - num_hashed <= uint64_t(9 + 4 + block_size));
  // The trunk is as it was.
  const RequestId third = driver.continue_sequence(driver.told(second).sequence, kept(kMore));
  driver.run_until_idle();
  const Tokens trunk = kPrompt + turn1.tokens + kMore + driver.told(second).tokens + kMore;
  check_output(driver.told(third), expected_output(trunk, make_request({}, 4), 1024));
}

WL_TEST("live: a fork of more tokens than a busy source keeps is released") {
  CoreDriver driver(one_slot());
  const auto turn = driver.run(kept(kPrompt));
  take_slot(driver);
  const RequestId aborted = driver.continue_sequence(turn.sequence, kept(kMore));
  const SequenceId branch = driver.fork(turn.sequence, 49);
  const RequestId request = driver.continue_sequence(branch, make_request(kMore, 4));
  driver.abort(aborted);
  driver.run_until_idle();
  WL_CHECK(driver.told(request).error == ErrorCode::kSequenceReleased);
  WL_CHECK(!driver.is_live(branch));
  WL_CHECK(driver.is_live(turn.sequence));
}

WL_TEST("live: an aborted warmup leaves its continuation to compute the rest") {
  ToyEngineOptions options;
  options.config.max_batch_tokens = 10;
  CoreDriver driver(options);
  const RequestId warm = driver.submit(warmup(kPrompt));
  driver.step();
  const SequenceId sequence = driver.told(warm).sequence;
  const SequenceId branch = driver.fork(sequence);
  const RequestId request = driver.continue_sequence(sequence, make_request(kMore, 4));
  driver.abort(warm);
  driver.run_until_idle();
  WL_CHECK(driver.told(warm).finish == FinishReason::kAborted);
  WL_CHECK_EQ(driver.told(request).cached_tokens, 10);
  check_output(driver.told(request), expected_output(kPrompt + kMore, make_request({}, 4), 1024));
  WL_CHECK(driver.is_live(branch));
}

WL_TEST("live: a continuation aborted before it ran leaves the sequence as it was") {
  CoreDriver driver(one_slot());
  const auto turn = driver.run(kept(kPrompt));
  take_slot(driver);
  const RequestId aborted = driver.continue_sequence(turn.sequence, kept(random_tokens(8, 30)));
  driver.step();
  driver.abort(aborted);
  driver.run_until_idle();
  WL_CHECK(driver.is_live(turn.sequence));
  const RequestId request = driver.continue_sequence(turn.sequence, make_request(kMore, 4));
  driver.run_until_idle();
  WL_CHECK_EQ(driver.told(request).cached_tokens, 43);
  check_output(driver.told(request),
               expected_output(kPrompt + turn.tokens + kMore, make_request({}, 4), 1024));
}

WL_TEST("live: a released sequence answers so, and its blocks are ordinary cached blocks") {
  CoreDriver driver;
  const auto turn = driver.run(kept(kPrompt));
  WL_CHECK_EQ(driver.core.stats().num_live_sequences, 1);
  driver.release(turn.sequence);
  driver.release(turn.sequence);
  driver.step();
  WL_CHECK(!driver.is_live(turn.sequence));
  WL_CHECK_EQ(driver.core.stats().num_free_blocks, 64);
  const RequestId request = driver.continue_sequence(turn.sequence, make_request(kMore, 4));
  driver.step();
  WL_CHECK(driver.told(request).finish == FinishReason::kFailed);
  WL_CHECK(driver.told(request).error == ErrorCode::kSequenceReleased);
  WL_CHECK_EQ(driver.run(make_request(kPrompt + turn.tokens + kMore)).cached_tokens, 32);
}

WL_TEST("live: a sequence released while it runs is not kept, what was asked before still runs") {
  CoreDriver driver;
  const RequestId first = driver.submit(kept(kPrompt));
  driver.step();
  const SequenceId sequence = driver.told(first).sequence;
  const RequestId second = driver.continue_sequence(sequence, kept(kMore));
  driver.release(sequence);
  driver.run_until_idle();
  WL_CHECK(driver.told(second).finish == FinishReason::kLength);
  WL_CHECK(!driver.is_live(sequence));
  WL_CHECK_EQ(driver.core.stats().num_free_blocks, 64);
}

WL_TEST("live: under pressure the oldest live sequences go first, before any preemption") {
  ToyEngineOptions options;
  options.num_blocks = 12;
  CoreDriver driver(options);
  std::vector<SequenceId> sequences;
  for (unsigned i = 0; i < 3; ++i) {
    sequences.push_back(driver.run(kept(random_tokens(30 + i, 40))).sequence);
  }
  const auto big = driver.run(make_request(random_tokens(40, 90), 4));  // 6 blocks, 3 are free
  WL_CHECK(big.finish == FinishReason::kLength);
  WL_CHECK(!driver.is_live(sequences[0]));
  WL_CHECK(driver.is_live(sequences[1]));
  WL_CHECK(driver.is_live(sequences[2]));
  WL_CHECK_EQ(driver.core.stats().num_preemptions, uint64_t{0});
}

WL_TEST("live: a waiting continuation that lost its blocks is recomputed, not failed") {
  ToyEngineOptions options;
  options.num_blocks = 8;
  options.config.max_running = 1;
  CoreDriver driver(options);
  const auto turn = driver.run(kept(kPrompt));
  const Tokens hog = random_tokens(50, 60);
  const RequestId running = driver.submit(make_request(hog, 60));
  driver.step();
  const RequestId request = driver.continue_sequence(turn.sequence, make_request(kMore, 4));
  driver.run_until_idle();
  check_output(driver.told(running), expected_output(hog, make_request({}, 60), 128));
  check_output(driver.told(request),
               expected_output(kPrompt + turn.tokens + kMore, make_request({}, 4), 128));
  WL_CHECK(!driver.told(request).is_live_hit);
  WL_CHECK_EQ(driver.core.stats().num_preemptions, uint64_t{0});
}

WL_TEST("live: a continuation that outgrows the context fails and the sequence stays") {
  ToyEngineOptions options;
  options.config.max_context_tokens = 50;
  CoreDriver driver(options);
  const auto turn = driver.run(kept(kPrompt));
  const RequestId request = driver.continue_sequence(turn.sequence, make_request(kMore, 4));
  driver.step();
  WL_CHECK(driver.told(request).finish == FinishReason::kFailed);
  WL_CHECK(driver.told(request).error == ErrorCode::kContextTooLong);
  WL_CHECK(driver.is_live(turn.sequence));
}

WL_TEST("live: what waited for a sequence that failed is told to submit again") {
  CoreDriver driver;
  const RequestId bad = driver.submit(kept(kPrompt + Tokens{kToyPoison}));
  driver.step();
  const auto turn = driver.run(kept(kPrompt));
  const RequestId poison = driver.continue_sequence(turn.sequence, kept({kToyPoison, 1, 2}));
  const SequenceId branch = driver.fork(turn.sequence);
  const RequestId on_branch = driver.continue_sequence(branch, make_request(kMore, 4));
  const RequestId on_trunk = driver.continue_sequence(turn.sequence, make_request(kMore, 4));
  driver.run_until_idle();
  WL_CHECK(driver.told(bad).error == ErrorCode::kEngineFailed);
  WL_CHECK(driver.told(poison).error == ErrorCode::kEngineFailed);
  for (const RequestId request : {on_branch, on_trunk}) {
    WL_CHECK(driver.told(request).finish == FinishReason::kFailed);
    WL_CHECK(driver.told(request).error == ErrorCode::kSequenceReleased);
  }
  WL_CHECK_EQ(driver.core.stats().num_free_blocks, 64);
}
