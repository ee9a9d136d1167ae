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
      scheduler_(scheduler_config(config, limits_, runner), kv_, sequences_) {}

// ---- commands ----------------------------------------------------------------------------------

void EngineCore::apply(Command command) {
  std::visit([this](auto& chosen) { on_command(chosen); }, command);
}

void EngineCore::on_command(SubmitCommand& command) {
  Sequence& sequence = sequences_.create(command.sequence, command.options.tenant_salt);
  Request& request = create_request(command.request, std::move(command.options), &sequence);
  if (!begin(request)) sequences_.erase(sequence);
}

void EngineCore::on_command(ContinueCommand& command) {
  Sequence* sequence = sequences_.find(command.sequence);
  Request& request = create_request(command.request, std::move(command.options), sequence);
  request.is_continuation = true;
  if (sequence == nullptr) {
    fail(request, ErrorCode::kSequenceReleased);
  } else if (sequence->is_busy()) {
    sequence->pending.push_back(&request);
  } else {
    sequences_.remove_live(*sequence);
    if (!begin(request)) settle(*sequence, true);
  }
}

void EngineCore::on_command(const ForkCommand& command) {
  Sequence* source = sequences_.find(command.source);
  if (source == nullptr) {
    outcome_.released.push_back(command.target);
    return;
  }
  Sequence& target = sequences_.create(command.target, source->blocks.tenant_salt);
  if (source->is_busy()) {
    target.is_awaiting_fork = true;
    source->pending.push_back(target.id);
  } else {
    fork_into(*source, target);
  }
}

void EngineCore::on_command(const ReleaseCommand& command) {
  Sequence* sequence = sequences_.find(command.sequence);
  if (sequence == nullptr) return;
  if (sequence->is_busy()) {
    sequence->is_release_requested = true;
  } else {
    sequences_.remove_live(*sequence);
    sequences_.erase(*sequence);
  }
}

void EngineCore::on_command(const AbortCommand& command) {
  const auto it = requests_.find(command.request);
  if (it == requests_.end()) return;
  Request& request = *it->second;
  Sequence& sequence = *request.sequence;
  if (!request.has_begun) {
    std::erase_if(sequence.pending, [&](const auto& operation) {
      const auto* waiting = std::get_if<Request*>(&operation);
      return waiting != nullptr && *waiting == &request;
    });
    end_request(request, FinishReason::kAborted);
    return;
  }
  scheduler_.remove(request);
  // A continuation that never ran leaves its sequence as it found it.
  const bool can_rewind = request.is_continuation && !request.is_admitted;
  if (can_rewind) rewind(request);
  end_request(request, FinishReason::kAborted);
  settle(sequence, can_rewind);
}

// ---- sequences ---------------------------------------------------------------------------------

Request& EngineCore::create_request(RequestId id, RequestOptions options, Sequence* sequence) {
  auto request = std::make_unique<Request>();
  request->id = id;
  request->options = std::move(options);
  request->sequence = sequence;
  return *(requests_[id] = std::move(request));
}

/// Appends the prompt to its idle sequence and queues the request. False: the request failed and
/// the sequence is as it was.
bool EngineCore::begin(Request& request) {
  Sequence& sequence = *request.sequence;
  if (!check_length(request.options, limits_, sequence.num_tokens()).ok()) {
    fail(request, ErrorCode::kContextTooLong);
    return false;
  }
  request.num_joined_tokens = sequence.num_tokens();
  sequence.tokens.insert(sequence.tokens.end(), request.options.tokens.begin(),
                         request.options.tokens.end());
  request.options.tokens = {};
  request.num_prompt_tokens = sequence.num_tokens();
  request.has_begun = true;
  if (request.options.sampling.has_penalties()) request.history.add_prompt(sequence.tokens);
  sequence.request = &request;
  kv_.extend_hashes(sequence.blocks, sequence.tokens);
  scheduler_.enqueue(request);
  return true;
}

/// Takes a prompt that was never computed off its sequence again.
void EngineCore::rewind(Request& request) {
  Sequence& sequence = *request.sequence;
  sequence.tokens.resize(static_cast<size_t>(request.num_joined_tokens));
  const size_t num_full = static_cast<size_t>(request.num_joined_tokens / kv_.block_size());
  sequence.blocks.hashes.resize(std::min(sequence.blocks.hashes.size(), num_full));
}

/// A sequence without a running request: serves what waits for it, then keeps or erases it.
void EngineCore::settle(Sequence& sequence, bool keep) {
  sequence.request = nullptr;
  kv_.trim(sequence.blocks, sequence.num_computed_tokens);
  kv_.mark_branch_point(sequence.blocks, sequence.num_computed_tokens);
  while (!sequence.pending.empty()) {
    const auto operation = sequence.pending.front();
    sequence.pending.pop_front();
    if (const auto* target = std::get_if<SequenceId>(&operation)) {
      fork_into(sequence, *sequences_.find(*target));
    } else if (begin(*std::get<Request*>(operation))) {
      return;
    }
  }
  if (!keep || sequence.is_release_requested) {
    sequences_.erase(sequence);
    return;
  }
  sequences_.add_live(sequence);
  outcome_.live.push_back({sequence.id, sequence.num_tokens()});
}

void EngineCore::fork_into(const Sequence& source, Sequence& target) {
  target.tokens = source.tokens;
  target.num_computed_tokens = source.num_computed_tokens;
  target.blocks = kv_.fork(source.blocks);
  target.is_awaiting_fork = false;
  settle(target, true);
}

/// Erases a sequence whose content is not to be trusted, and fails what waits for it.
void EngineCore::abandon(Sequence& sequence) {
  for (const auto& operation : std::exchange(sequence.pending, {})) {
    if (const auto* target = std::get_if<SequenceId>(&operation)) {
      abandon(*sequences_.find(*target));
    } else {
      fail(*std::get<Request*>(operation), ErrorCode::kSequenceReleased);
    }
  }
  kv_.discard(sequence.blocks);
  sequences_.erase(sequence);
}

// ---- steps -------------------------------------------------------------------------------------

StepOutcome EngineCore::step() {
  if (failure_) return fail_all(*failure_);
  const auto start = std::chrono::steady_clock::now();
  if (scheduler_.has_work()) run_step();
  if (failure_) return fail_all(*failure_);
  StepOutcome outcome = take_outcome();
  outcome.events.step_us = std::chrono::duration_cast<std::chrono::microseconds>(
                               std::chrono::steady_clock::now() - start)
                               .count();
  return outcome;
}

void EngineCore::run_step() {
  const StepPlan plan = scheduler_.plan();
  for (Request* request : plan.admitted) {
    ++outcome_.num_left_queue;
    counters_.cached_tokens += static_cast<uint64_t>(request->num_cached_tokens);
    event_of(*request).is_admitted = true;
  }
  for (const kv::BlockCopy& copy : plan.copies) {
    runner_.copy_block(copy.group, copy.from, copy.to, copy.num_slots);
  }
  const BuiltBatch built = build_batch(plan, kv_.num_groups(), kv_.block_size());
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
           std::span(logits_).subspan(first_row * vocab, (end_row - first_row) * vocab));
  }
}

/// logits [rows, vocab]: this entry's rows of the step.
void EngineCore::commit(const ScheduledTokens& scheduled, std::span<const float> logits) {
  Request& request = *scheduled.request;
  Sequence& sequence = *request.sequence;
  append_logits(scheduled, logits);
  sequence.num_computed_tokens += scheduled.num_tokens;
  (scheduled.is_decode ? counters_.decode_tokens : counters_.prefill_tokens) +=
      static_cast<uint64_t>(scheduled.num_tokens);

  std::optional<int32_t> token;
  if (scheduled.samples) {
    token =
        sampler_.sample(logits.last(static_cast<size_t>(limits_.vocab)), request.options.sampling,
                        request.history, static_cast<uint32_t>(sequence.num_tokens()));
    if (!token) {  // a logit is not finite
      scheduler_.remove(request);
      fail(request, ErrorCode::kEngineFailed);
      abandon(sequence);
      return;
    }
  }
  kv_.commit(sequence.blocks, sequence.tokens, sequence.num_computed_tokens);
  if (token) {
    on_sampled(request, *token);
  } else if (sequence.num_uncomputed_tokens() == 0) {
    finish(request, FinishReason::kPrefilled);
  }
}

void EngineCore::append_logits(const ScheduledTokens& scheduled, std::span<const float> logits) {
  Request& request = *scheduled.request;
  if (request.options.logits == LogitsMode::kNone || logits.empty()) return;
  std::vector<float>& out = event_of(request).logits;
  out.insert(out.end(), logits.begin(), logits.end());
  request.next_logits_position = request.sequence->num_computed_tokens + scheduled.num_tokens;
}

void EngineCore::on_sampled(Request& request, int32_t token) {
  Sequence& sequence = *request.sequence;
  sequence.tokens.push_back(token);
  ++request.num_output_tokens;
  if (request.options.sampling.has_penalties()) request.history.add_output(token);
  event_of(request).tokens.push_back(token);
  if (std::ranges::count(request.options.stop_token_ids, token) > 0) {
    finish(request, FinishReason::kStop);
  } else if (request.num_output_tokens == request.options.max_output_tokens ||
             sequence.num_tokens() == limits_.max_sequence_tokens) {
    finish(request, FinishReason::kLength);
  }
}

// ---- ends and events ---------------------------------------------------------------------------

void EngineCore::finish(Request& request, FinishReason reason) {
  Sequence& sequence = *request.sequence;
  const bool keep = request.options.keep_sequence;
  scheduler_.remove(request);
  end_request(request, reason);
  settle(sequence, keep);
}

void EngineCore::fail(Request& request, ErrorCode code) {
  event_of(request).error = code;
  end_request(request, FinishReason::kFailed);
}

/// The request's last event; the request is gone afterwards.
void EngineCore::end_request(Request& request, FinishReason reason) {
  event_of(request).finish = reason;
  if (!request.is_admitted) ++outcome_.num_left_queue;
  const RequestId id = request.id;
  requests_.erase(id);
}

RequestEvent& EngineCore::event_of(const Request& request) {
  std::vector<RequestEvent>& events = outcome_.events.events;
  const auto it = std::ranges::find(events, request.id, &RequestEvent::request);
  if (it != events.end()) return *it;
  RequestEvent event;
  event.request = request.id;
  event.sequence = request.sequence == nullptr ? 0 : request.sequence->id;
  event.prompt_tokens = request.num_prompt_tokens;
  event.cached_tokens = request.num_cached_tokens;
  event.is_live_hit = request.is_live_hit;
  event.preempted_tokens = request.num_preempted_tokens;
  return events.emplace_back(std::move(event));
}

StepOutcome EngineCore::fail_all(Error error) {
  for (auto& [id, request] : requests_) {
    RequestEvent& event = event_of(*request);
    event.finish = FinishReason::kFailed;
    event.error = error.code;
    if (!request->is_admitted) ++outcome_.num_left_queue;
  }
  requests_.clear();
  scheduler_.clear();
  sequences_.clear();
  failure_ = std::move(error);
  return take_outcome();
}

StepOutcome EngineCore::take_outcome() {
  for (const SequenceId id : sequences_.take_released()) outcome_.released.push_back(id);
  return std::exchange(outcome_, {});
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
  return stats;
}

void EngineCore::check_integrity() const { kv_.check_integrity(sequences_.block_tables()); }

}  // namespace wl::engine
