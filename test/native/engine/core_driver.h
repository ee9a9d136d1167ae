#pragma once
// Drives an EngineCore over a ToyRunner step by step, checks its integrity after each, and keeps
// what every request was told. expected_output() is the oracle: the same model without blocks,
// batches or caches.

#include <map>
#include <optional>
#include <random>
#include <vector>

#include "check.h"
#include "engine/engine_core.h"
#include "toy_runner.h"

namespace wl::test {

using engine::FinishReason;
using engine::RequestId;
using engine::RequestOptions;
using engine::SequenceId;
using Tokens = std::vector<int32_t>;

struct ToyEngineOptions {
  int num_blocks = 64;  // of the first KV group
  int block_size = 16;
  int window = 0;                                       // of the first KV group
  std::vector<kv::KvGroupConfig> windowed_groups = {};  // the others
  engine::EngineConfig config = {.max_context_tokens = 1024,
                                 .max_batch_tokens = 512,
                                 .max_running = 16,
                                 .max_queued = 1024,
                                 .max_prefill_chunk = 0,
                                 .enable_prefix_cache = true,
                                 .fingerprint = "toy"};

  std::vector<kv::KvGroupConfig> groups() const {
    std::vector<kv::KvGroupConfig> groups = {{window, num_blocks}};
    groups.insert(groups.end(), windowed_groups.begin(), windowed_groups.end());
    return groups;
  }
  std::vector<int> windows() const {
    std::vector<int> windows;
    for (const kv::KvGroupConfig& group : groups()) windows.push_back(group.window);
    return windows;
  }
};

/// A prompt of ordinary tokens.
inline Tokens random_tokens(unsigned seed, int n) {
  std::mt19937 rng(seed);
  Tokens tokens;
  for (int i = 0; i < n; ++i) tokens.push_back(static_cast<int32_t>(rng() % (kToyVocab - 1)));
  return tokens;
}

inline Tokens operator+(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline RequestOptions make_request(Tokens tokens, int max_output_tokens = 8) {
  RequestOptions options;
  options.tokens = std::move(tokens);
  options.max_output_tokens = max_output_tokens;
  return options;
}

struct Output {
  Tokens tokens;
  std::vector<float> logits;  // one row a token
  FinishReason finish = FinishReason::kNone;
};

/// What a request over the whole token list `prompt` must give: every token sampled by itself.
inline Output expected_output(const Tokens& prompt, const RequestOptions& options,
                              int max_sequence_tokens, const std::vector<int>& windows = {0}) {
  sampling::Sampler sampler;
  sampling::TokenHistory history;
  history.add_prompt(prompt);
  Tokens sequence = prompt;
  ToyModel model(windows);
  uint64_t state = 0;
  std::optional<engine::OutputGrammar> grammar;
  if (options.grammar) grammar.emplace(options.grammar, options.stop_token_ids, kToyVocab);
  sampling::TokenMask mask(kToyVocab);
  Output output;
  while (output.finish == FinishReason::kNone) {
    while (model.num_tokens() < static_cast<int>(sequence.size())) {
      state = model.append(sequence[static_cast<size_t>(model.num_tokens())]);
    }
    std::vector<float> row(kToyVocab);
    toy_logits(state, row.data());
    if (grammar) grammar->fill_mask(mask);
    if (grammar && mask.is_empty()) {
      output.finish = grammar->is_finished() ? FinishReason::kStop : FinishReason::kFailed;
      break;
    }
    const auto token =
        sampler.sample(row, options.sampling, history, static_cast<uint32_t>(sequence.size()),
                       grammar ? &mask : nullptr);
    if (!token) {
      output.finish = FinishReason::kFailed;
      break;
    }
    output.logits.insert(output.logits.end(), row.begin(), row.end());
    history.add_output(*token);
    sequence.push_back(*token);
    output.tokens.push_back(*token);
    const auto& stops = options.stop_token_ids;
    const bool is_stop = std::find(stops.begin(), stops.end(), *token) != stops.end();
    if (grammar && !is_stop) WL_CHECK(grammar->accept(*token));
    if (is_stop || (grammar && grammar->is_finished())) {
      output.finish = FinishReason::kStop;
    } else if (static_cast<int>(output.tokens.size()) == options.max_output_tokens ||
               static_cast<int>(sequence.size()) == max_sequence_tokens) {
      output.finish = FinishReason::kLength;
    }
  }
  return output;
}

/// The log probabilities of tokens[begin..]: each from the logits of the tokens before it.
inline sampling::LogprobRows expected_logprobs(const Tokens& tokens, size_t begin, int num_top,
                                               const std::vector<int>& windows = {0}) {
  ToyModel model(windows);
  sampling::LogprobRows rows;
  std::vector<float> logits(kToyVocab);
  for (size_t i = 1; i < tokens.size(); ++i) {
    toy_logits(model.append(tokens[i - 1]), logits.data());
    if (i >= begin) WL_CHECK(sampling::append_logprobs(logits, tokens[i], num_top, rows));
  }
  return rows;
}

class CoreDriver {
 public:
  struct Told : Output {
    SequenceId sequence = 0;
    ErrorCode error = ErrorCode::kInternal;
    int num_events = 0, num_finishes = 0, num_admissions = 0;
    int prompt_tokens = 0, cached_tokens = 0, preempted_tokens = 0;
    bool is_live_hit = false;
    sampling::LogprobRows logprobs;
  };

  explicit CoreDriver(const ToyEngineOptions& options = {})
      : runner(options.groups(), options.block_size), core(runner, options.config) {}

  RequestId submit(RequestOptions options) {
    const RequestId request = next_id_++;
    core.apply(engine::SubmitCommand{request, next_id_++, std::move(options)});
    return request;
  }
  RequestId continue_sequence(SequenceId sequence, RequestOptions options) {
    const RequestId request = next_id_++;
    core.apply(engine::ContinueCommand{request, sequence, std::move(options)});
    return request;
  }
  SequenceId fork(SequenceId source, std::optional<int> num_tokens = {}) {
    core.apply(engine::ForkCommand{source, next_id_, num_tokens});
    return next_id_++;
  }
  void release(SequenceId sequence) { core.apply(engine::ReleaseCommand{sequence}); }
  void abort(RequestId request) { core.apply(engine::AbortCommand{request}); }
  void pause(RequestId request) { core.apply(engine::PauseCommand{request}); }
  void resume(RequestId request) { core.apply(engine::ResumeCommand{request}); }

  void step() {
    engine::StepOutcome outcome = core.step();
    core.check_integrity();
    num_queued_left += outcome.num_left_queue;
    for (const auto& live : outcome.live) live_tokens[live.id] = live.num_tokens;
    for (const SequenceId id : outcome.released) live_tokens.erase(id);
    for (auto& event : outcome.events.events) {
      Told& told = told_[event.request];
      WL_CHECK_EQ(told.num_finishes, 0);  // nothing is said after the end
      told.tokens = told.tokens + event.tokens;
      told.logits.insert(told.logits.end(), event.logits.begin(), event.logits.end());
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(told.logprobs.tokens, event.logprobs.tokens);
      append(told.logprobs.logprobs, event.logprobs.logprobs);
      told.sequence = event.sequence;
      told.prompt_tokens = event.prompt_tokens;
      told.cached_tokens = event.cached_tokens;
      told.preempted_tokens = event.preempted_tokens;
      told.is_live_hit = event.is_live_hit;
      ++told.num_events;
      told.num_admissions += event.is_admitted;
      if (event.is_admitted) WL_CHECK_EQ(told.num_events, 1);
      if (event.finish == FinishReason::kNone) continue;
      ++told.num_finishes;
      told.finish = event.finish;
      told.error = event.error;
    }
  }

  void run_until_idle() {
    for (int i = 0; core.has_work(); ++i) {
      if (i == 100000) {
        WL_CHECK(false && "the engine does not come to rest");
        return;
      }
      step();
    }
    step();  // what commands without work have to say
  }

  const Told& told(RequestId request) { return told_[request]; }
  const Told& run(RequestOptions options) {
    const RequestId request = submit(std::move(options));
    run_until_idle();
    return told(request);
  }
  bool is_live(SequenceId sequence) const { return live_tokens.contains(sequence); }

  ToyRunner runner;
  engine::EngineCore core;
  std::map<SequenceId, int> live_tokens;
  int num_queued_left = 0;

 private:
  uint32_t next_id_ = 1;
  std::map<RequestId, Told> told_;
};

/// Tokens, and logits where the request asked for them, bit for bit.
inline void check_output(const Output& got, const Output& expected) {
  WL_CHECK(got.tokens == expected.tokens);
  WL_CHECK_EQ(static_cast<int>(got.finish), static_cast<int>(expected.finish));
  if (!got.logits.empty()) WL_CHECK(got.logits == expected.logits);
}

}  // namespace wl::test
