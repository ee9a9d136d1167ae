#include "engine/engine_core.h"

#include <algorithm>
#include <string>
#include <utility>

namespace wl::engine {
namespace {

SchedulerConfig scheduler_config(const EngineConfig& config, const RequestLimits& limits,
                                 const ModelRunner& runner) {
  int chunk = config.max_prefill_chunk > 0 ? config.max_prefill_chunk : config.max_batch_tokens;
  for (const kv::KvGroupConfig& group : runner.kv_groups()) {
    chunk = std::min(chunk,
                     kv::max_step_tokens(group, runner.block_size(), limits.max_sequence_tokens));
  }
  return {config.max_batch_tokens, config.max_running, chunk};
}

}  // namespace

EngineCore::EngineCore(ModelRunner& runner, const EngineConfig& config)
    : runner_(runner),
      limits_(request_limits(config, runner)),
      kv_({runner.kv_groups(), runner.block_size(), config.fingerprint,
           config.enable_prefix_cache}),
      sequences_(kv_),
      scheduler_(scheduler_config(config, limits_, runner), kv_, sequences_),
      lifecycle_(limits_, kv_, sequences_, scheduler_),
      mask_worker_(limits_.vocab) {}

StepOutcome EngineCore::step() {
  if (failure_) return fail_all(*failure_);
  const auto start = std::chrono::steady_clock::now();
  if (scheduler_.has_work()) run_step();
  if (failure_) return fail_all(*failure_);
  StepOutcome outcome = lifecycle_.take_outcome();
  outcome.events.step_us = std::chrono::duration_cast<std::chrono::microseconds>(
                               std::chrono::steady_clock::now() - start)
                               .count();
  return outcome;
}

void EngineCore::run_step() {
  const StepPlan plan = scheduler_.plan();
  for (Request* request : plan.given_up) lifecycle_.give_up(*request);
  if (plan.scheduled.empty()) return;
  for (Request* request : plan.admitted) {
    counters_.cached_tokens += static_cast<uint64_t>(request->num_cached_tokens);
    lifecycle_.admit(*request);
  }
  for (const kv::BlockCopy& copy : plan.copies) {
    runner_.copy_block(copy.group, copy.from, copy.to, copy.num_slots);
  }
  const BuiltBatch built = build_batch(plan, kv_.num_groups(), kv_.block_size());
  MaskWorker::Batch masks = mask_worker_.start(grammars_to_sample(plan));
  const size_t vocab = static_cast<size_t>(limits_.vocab);
  logits_.resize(built.batch.logit_rows.size() * vocab);
  if (const Status status = runner_.forward(built.batch, logits_.data()); !status.ok()) {
    failure_ = Error{ErrorCode::kEngineFailed, status.error().message};
    return;
  }
  ++counters_.num_steps;
  for (size_t i = 0; i < plan.scheduled.size(); ++i) {
    const size_t first_row = static_cast<size_t>(built.logit_row_starts[i]);
    const size_t end_row = static_cast<size_t>(built.logit_row_starts[i + 1]);
    commit(plan.scheduled[i],
           std::span(logits_).subspan(first_row * vocab, (end_row - first_row) * vocab), masks);
  }
}

/// The grammars whose masks the step needs.
std::vector<const OutputGrammar*> EngineCore::grammars_to_sample(const StepPlan& plan) {
  std::vector<const OutputGrammar*> grammars;
  for (const ScheduledTokens& scheduled : plan.scheduled) {
    const Request& request = *scheduled.request;
    if (!scheduled.samples || !request.grammar || forced_token(request)) continue;
    grammars.push_back(&*request.grammar);
  }
  return grammars;
}

/// logits [rows, vocab]: this entry's rows of the step.
void EngineCore::commit(const ScheduledTokens& scheduled, std::span<const float> logits,
                        MaskWorker::Batch& masks) {
  Request& request = *scheduled.request;
  Sequence& sequence = *request.sequence;
  const bool is_finite = append_prompt_logprobs(scheduled, logits);
  report_rows(scheduled, logits);
  sequence.num_computed_tokens += scheduled.num_tokens;
  (scheduled.is_decode ? counters_.decode_tokens : counters_.prefill_tokens) +=
      static_cast<uint64_t>(scheduled.num_tokens);

  if (!is_finite) {
    lifecycle_.fail_with_sequence(request, ErrorCode::kEngineFailed);
    return;
  }
  if (!scheduled.samples) {
    kv_.commit(sequence.blocks, sequence.tokens, sequence.num_computed_tokens);
    if (sequence.num_uncomputed_tokens() == 0) {
      lifecycle_.finish(request, FinishReason::kPrefilled);
    }
    return;
  }
  std::optional<int32_t> token = forced_token(request);
  const bool is_sampled = !token.has_value();
  if (is_sampled) token = sample(request, logits.last(static_cast<size_t>(limits_.vocab)), masks);
  if (!token) return;
  kv_.commit(sequence.blocks, sequence.tokens, sequence.num_computed_tokens);
  counters_.forced_tokens += append_run(request, *token) - (is_sampled ? 1 : 0);
}

/// nullopt: no token can come next; the request ended.
std::optional<int32_t> EngineCore::sample(Request& request, std::span<const float> logits,
                                          MaskWorker::Batch& masks) {
  const sampling::TokenMask* allowed = nullptr;
  if (request.grammar) {
    allowed = &masks.mask_of(*request.grammar);
    if (allowed->is_empty()) {
      end_at_empty_mask(request);
      return std::nullopt;
    }
  }
  const auto token =
      sampler_.sample(logits, request.options.sampling, request.history,
                      static_cast<uint32_t>(request.sequence->num_tokens()), allowed);
  if (token && request.options.logprobs) append_logprobs(request, logits, *token);
  if (!token) lifecycle_.fail_with_sequence(request, ErrorCode::kEngineFailed);  // not finite
  return token;
}

void EngineCore::end_at_empty_mask(Request& request) {
  if (request.grammar->is_finished()) {  // by the empty text
    lifecycle_.finish(request, FinishReason::kStop);
  } else {
    lifecycle_.fail(request, ErrorCode::kGrammar);
  }
}

/// Before the scheduled tokens count as computed. False: a logit is not finite.
bool EngineCore::append_prompt_logprobs(const ScheduledTokens& scheduled,
                                        std::span<const float> logits) {
  const Request& request = *scheduled.request;
  if (!request.wants_prompt_logprobs()) return true;
  const size_t vocab = static_cast<size_t>(limits_.vocab);
  const Sequence& sequence = *request.sequence;
  // The row of a position is about the token behind it.
  for (int next = first_logits_position(scheduled) + 1; !logits.empty(); ++next) {
    if (next >= request.num_prompt_tokens) break;
    const int32_t token = sequence.tokens[static_cast<size_t>(next)];
    if (!append_logprobs(request, logits.first(vocab), token)) return false;
    logits = logits.subspan(vocab);
  }
  return true;
}

/// False: a logit is not finite.
bool EngineCore::append_logprobs(const Request& request, std::span<const float> logits,
                                 int32_t token) {
  return sampling::append_logprobs(logits, token, request.options.logprobs->num_top,
                                   lifecycle_.event_of(request).logprobs);
}

/// Before the scheduled tokens count as computed.
void EngineCore::report_rows(const ScheduledTokens& scheduled, std::span<const float> logits) {
  Request& request = *scheduled.request;
  if (logits.empty()) return;
  request.next_logits_position = request.sequence->num_computed_tokens + scheduled.num_tokens;
  const LogitsMode mode = request.options.logits;
  if (mode == LogitsMode::kNone || (mode == LogitsMode::kSampled && !scheduled.samples)) return;
  if (mode == LogitsMode::kSampled) logits = logits.last(static_cast<size_t>(limits_.vocab));
  std::vector<float>& out = lifecycle_.event_of(request).logits;
  out.insert(out.end(), logits.begin(), logits.end());
}

std::optional<int32_t> EngineCore::forced_token(const Request& request) {
  const RequestOptions& options = request.options;
  const bool needs_rows = options.logits != LogitsMode::kNone || options.logprobs;
  if (!request.grammar || !options.jump_forward || needs_rows) return {};
  return request.grammar->forced_token();
}

/// Appends a token and those that the grammar forces after it. Returns how many.
uint64_t EngineCore::append_run(Request& request, int32_t first_token) {
  request.num_last_appended = 0;
  uint64_t num_appended = 0;
  for (std::optional<int32_t> token = first_token; token; token = forced_token(request)) {
    ++num_appended;
    if (!append(request, *token)) break;
  }
  return num_appended;
}

/// False: the request ended with this token.
bool EngineCore::append(Request& request, int32_t token) {
  Sequence& sequence = *request.sequence;
  const bool is_stop = std::ranges::count(request.options.stop_token_ids, token) > 0;
  if (request.grammar && !is_stop && !request.grammar->accept(token)) {
    // Its mask allowed the token, but the grammar has too many ways to read the text by now.
    lifecycle_.fail(request, ErrorCode::kGrammar);
    return false;
  }
  sequence.tokens.push_back(token);
  ++request.num_output_tokens;
  ++request.num_last_appended;
  if (request.options.sampling.has_penalties()) request.history.add_output(token);
  lifecycle_.event_of(request).tokens.push_back(token);
  const bool is_finished = request.grammar && request.grammar->is_finished();
  const bool is_full = request.num_output_tokens == request.options.max_output_tokens ||
                       sequence.num_tokens() == limits_.max_sequence_tokens;
  if (!is_stop && !is_finished && !is_full) return true;
  lifecycle_.finish(request, is_stop || is_finished ? FinishReason::kStop : FinishReason::kLength);
  return false;
}

StepOutcome EngineCore::fail_all(Error error) {
  lifecycle_.fail_all(error.code);
  failure_ = std::move(error);
  return lifecycle_.take_outcome();
}

EngineStats EngineCore::stats() const {
  EngineStats stats = counters_;
  stats.num_waiting = scheduler_.num_preempted_waiting();
  stats.num_running = scheduler_.num_running();
  stats.num_live_sequences = sequences_.num_live();
  const kv::GroupCache& fullest = kv_.fullest_group();
  stats.num_blocks = fullest.num_blocks();
  stats.num_free_blocks = fullest.num_free();
  stats.num_cached_blocks = fullest.num_cached();
  stats.block_size = kv_.block_size();
  stats.hashed_tokens = kv_.num_hashed_tokens();
  stats.num_preemptions = scheduler_.num_preemptions();
  stats.mask_waits = mask_worker_.num_waits();
  return stats;
}

void EngineCore::check_integrity() const { kv_.check_integrity(sequences_.block_tables()); }

}  // namespace wl::engine
