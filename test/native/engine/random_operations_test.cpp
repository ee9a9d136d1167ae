// Random submits, continuations, forks, releases, aborts and pauses on tiny pools: every request
// ends exactly once, every token equals the from-scratch reference, integrity holds after every
// step.

#include <optional>

#include "toy_grammar.h"

using namespace wl::test;
using wl::ErrorCode;

namespace {

class RandomSession {
 public:
  RandomSession(unsigned seed, const ToyEngineOptions& options)
      : rng_(seed),
        driver_(options),
        windows_(options.windows()),
        max_sequence_tokens_(
            wl::engine::request_limits(options.config, driver_.runner).max_sequence_tokens) {}

  void run(int num_steps) {
    for (int i = 0; i < num_steps; ++i) {
      for (unsigned n = pick(3); n > 0; --n) one_operation();
      driver_.step();
      for (const auto& [request, expectation] : requests_) learn(request, expectation);
    }
    for (const auto& [request, expectation] : requests_) driver_.resume(request);
    driver_.run_until_idle();
    for (const auto& [request, expectation] : requests_) {
      learn(request, expectation);
      check(request, expectation);
    }
    const auto live = driver_.live_tokens;
    for (const auto& [sequence, num_tokens] : live) driver_.release(sequence);
    driver_.step();
    const auto stats = driver_.core.stats();
    WL_CHECK_EQ(stats.num_free_blocks, stats.num_blocks);
    WL_CHECK_EQ(stats.num_live_sequences, 0);
    WL_CHECK_EQ(driver_.num_queued_left, static_cast<int>(requests_.size()));
    num_preemptions += stats.num_preemptions;
    num_live_hits += num_live_hits_;
    num_cached_tokens += stats.cached_tokens;
  }

  static inline uint64_t num_preemptions = 0;
  static inline int num_live_hits = 0;
  static inline uint64_t num_cached_tokens = 0;

 private:
  struct Expectation {
    Tokens joined;  // tokens of the sequence before the request
    RequestOptions options;
    bool is_aborted = false;
  };

  unsigned pick(unsigned n) { return static_cast<unsigned>(rng_() % n); }

  /// Prompts start with one of few long prefixes, so that hits and shared prefills are common.
  Tokens random_prompt() {
    Tokens tokens = random_tokens(pick(3), 1 + static_cast<int>(pick(40)));
    return tokens + random_tokens(rng_() % 1000, static_cast<int>(pick(12)));
  }

  RequestOptions random_request(Tokens tokens) {
    RequestOptions options = make_request(std::move(tokens), 1 + static_cast<int>(pick(20)));
    options.keep_sequence = pick(2) == 0;
    options.prefill_only = pick(8) == 0;
    if (pick(3) == 0) options.stop_token_ids = {static_cast<int32_t>(pick(60)), 5};
    if (pick(2) == 0) options.logits = wl::engine::LogitsMode::kSampled;
    if (pick(3) == 0) {
      options.logprobs = {.num_top = static_cast<int>(pick(4)), .of_prompt = pick(2) == 0};
    }
    if (pick(3) == 0) {
      options.grammar = pick(2) == 0 ? objects_ : letters_;
      options.jump_forward = pick(3) != 0;
    }
    if (pick(3) == 0) {
      options.sampling = {.temperature = 0.8, .top_k = 20, .presence_penalty = 0.3, .seed = rng_()};
    }
    return options;
  }

  bool fits(size_t num_joined, const RequestOptions& options) const {
    return static_cast<int>(num_joined + options.tokens.size()) < max_sequence_tokens_;
  }

  void one_operation() {
    if (!requests_.empty() && pick(8) == 0) pause_or_resume();
    const unsigned choice = pick(10);
    if (choice < 4 || sequences_.empty()) {
      RequestOptions options = random_request(random_prompt());
      if (!fits(0, options)) return;
      if (pick(6) == 0) options.tenant_salt = "other";
      if (pick(40) == 0) options.tokens.push_back(kToyPoison);
      if (!fits(0, options)) return;
      const Expectation expectation{{}, options, false};
      requests_[driver_.submit(options)] = expectation;
      return;
    }
    auto it = sequences_.begin();
    std::advance(it, pick(static_cast<unsigned>(sequences_.size())));
    const SequenceId sequence = it->first;
    if (choice < 7) {
      continue_one(it);
    } else if (choice == 7) {
      fork_one(sequence, it->second);
    } else if (choice == 8) {
      driver_.release(sequence);
      sequences_.erase(it);
    } else if (!requests_.empty()) {
      auto request = std::prev(requests_.end());
      for (unsigned n = pick(3); n > 0 && request != requests_.begin(); --n) --request;
      driver_.abort(request->first);
      request->second.is_aborted = true;
    }
  }

  void fork_one(SequenceId sequence, const Tokens& tokens) {
    if (pick(2) == 0) {
      sequences_[driver_.fork(sequence)] = tokens;
      return;
    }
    const int num_tokens = 1 + static_cast<int>(pick(static_cast<unsigned>(tokens.size())));
    const SequenceId branch = driver_.fork(sequence, num_tokens);
    sequences_[branch] = {tokens.begin(), tokens.begin() + num_tokens};
  }

  void pause_or_resume() {
    auto request = std::prev(requests_.end());
    for (unsigned n = pick(4); n > 0 && request != requests_.begin(); --n) --request;
    if (pick(3) == 0) {
      driver_.pause(request->first);
    } else {
      driver_.resume(request->first);
    }
  }

  /// The sequence is taken out until its request ends: only then are its tokens known again.
  void continue_one(std::map<SequenceId, Tokens>::iterator it) {
    RequestOptions options = random_request(random_tokens(rng_() % 1000, 1 + pick(9)));
    if (options.logprobs) options.logprobs->of_prompt = false;
    if (!fits(it->second.size(), options)) return;
    const Expectation expectation{it->second, options, false};
    requests_[driver_.continue_sequence(it->first, options)] = expectation;
    sequences_.erase(it);
  }

  /// Picks up sequences that became live, and forgets those that were released.
  void learn(RequestId request, const Expectation& expectation) {
    const auto& told = driver_.told(request);
    if (told.num_finishes == 1 && learned_.insert(request).second) {
      num_live_hits_ += told.is_live_hit;
      if (!expectation.is_aborted && driver_.is_live(told.sequence)) {
        sequences_[told.sequence] = expectation.joined + expectation.options.tokens + told.tokens;
      }
    }
    std::erase_if(sequences_, [&](const auto& entry) { return !driver_.is_live(entry.first); });
  }

  void check(RequestId request, const Expectation& expectation) {
    const auto& told = driver_.told(request);
    WL_CHECK_EQ(told.num_finishes, 1);
    const RequestOptions& options = expectation.options;
    const Tokens prompt = expectation.joined + options.tokens;
    const bool is_poisoned = std::find(prompt.begin(), prompt.end(), kToyPoison) != prompt.end();
    if (told.finish == FinishReason::kFailed) {
      WL_CHECK(is_poisoned || told.error == ErrorCode::kSequenceReleased);
      return;
    }
    // Forced tokens need no logits, so they come even where those are not finite.
    if (is_poisoned && options.grammar && options.jump_forward) return;
    if (told.num_admissions == 1) WL_CHECK_EQ(told.prompt_tokens, static_cast<int>(prompt.size()));
    if (options.logprobs && told.finish != FinishReason::kAborted && !is_poisoned) {
      const auto expected =
          expected_logprobs(prompt + told.tokens, options.logprobs->of_prompt ? 1 : prompt.size(),
                            options.logprobs->num_top, windows_);
      WL_CHECK(told.logprobs.tokens == expected.tokens);
      WL_CHECK(told.logprobs.logprobs == expected.logprobs);
    }
    if (options.prefill_only) {
      WL_CHECK(told.tokens.empty());
      return;
    }
    Output expected = expected_output(prompt, options, max_sequence_tokens_, windows_);
    if (told.finish == FinishReason::kAborted) {
      expected.tokens.resize(std::min(expected.tokens.size(), told.tokens.size()));
      expected.logits.resize(told.logits.size());
      expected.finish = FinishReason::kAborted;
    }
    check_output(told, expected);
  }

  const ToyGrammar objects_ = toy_object(), letters_ = toy_letters();
  std::mt19937_64 rng_;
  CoreDriver driver_;
  const std::vector<int> windows_;
  const int max_sequence_tokens_;
  std::map<RequestId, Expectation> requests_;
  std::map<SequenceId, Tokens> sequences_;  // live and idle: what they hold
  std::set<RequestId> learned_;
  int num_live_hits_ = 0;
};

}  // namespace

/// Groups for a seed: with barely the blocks that one sequence needs, or with some more.
static void set_windows(ToyEngineOptions& options, unsigned seed) {
  options.config.max_context_tokens = 200;
  const auto least = [&](int window) {
    const int num_blocks = wl::kv::num_window_blocks(window, options.block_size, 1);
    return (seed % 3 == 0 ? 8 : 1) * (num_blocks + static_cast<int>(seed % 5));
  };
  switch (seed % 4) {
    case 0:
      options.windowed_groups = {{9, least(9)}};
      break;
    case 1:
      options.windowed_groups = {{20, 3 * least(20)}, {5, least(5)}};
      break;
    case 2:
      options.window = 12, options.num_blocks = least(12);
      break;
    case 3:
      options.window = 16, options.windowed_groups = {{3, 2 * least(3)}};
      break;
  }
}

static void run_sessions(unsigned num_seeds, bool has_windows) {
  RandomSession::num_preemptions = RandomSession::num_cached_tokens = 0;
  RandomSession::num_live_hits = 0;
  for (unsigned seed = 0; seed < num_seeds; ++seed) {
    ToyEngineOptions options;
    options.block_size = seed % 2 == 0 ? 4 : 16;
    options.num_blocks = (seed % 2 == 0 ? 18 : 6) + static_cast<int>(seed % 9);
    if (seed % 3 == 0) options.num_blocks *= 4;  // room for live sequences to survive
    options.config.max_batch_tokens = 1 + static_cast<int>(seed * 7 % 40);
    options.config.max_running = 1 + static_cast<int>(seed % 6);
    options.config.max_prefill_chunk = static_cast<int>(seed % 4) * 3;
    options.config.enable_prefix_cache = seed % 7 != 0;
    if (has_windows) set_windows(options, seed);
    RandomSession(seed, options).run(150);
  }
  WL_CHECK(RandomSession::num_preemptions > 100);  // the pools are small enough to matter
  WL_CHECK(RandomSession::num_live_hits > 100);
  WL_CHECK(RandomSession::num_cached_tokens > 10000);
}

WL_TEST("engine: after random operations every request gave what it gives alone") {
  run_sessions(60, false);
}

WL_TEST("engine: after random operations on windows every request gave what it gives alone") {
  run_sessions(100, true);
}
