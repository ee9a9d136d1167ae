#include "engine/request_lifecycle.h"

#include <algorithm>
#include <utility>

namespace wl::engine {

// ---- commands ----------------------------------------------------------------------------------

void RequestLifecycle::apply(Command command) {
  std::visit([this](auto& chosen) { on_command(chosen); }, command);
}

void RequestLifecycle::on_command(SubmitCommand& command) {
  Sequence& sequence = sequences_.create(command.sequence, command.options.tenant_salt);
  Request& request = create_request(command.request, std::move(command.options), &sequence);
  if (!begin(request)) sequences_.erase(sequence);
}

void RequestLifecycle::on_command(ContinueCommand& command) {
  Sequence* sequence = sequences_.find(command.sequence);
  Request& request = create_request(command.request, std::move(command.options), sequence);
  request.is_continuation = true;
  if (sequence == nullptr) {
    end_failed(request, ErrorCode::kSequenceReleased);
  } else if (sequence->is_busy()) {
    sequence->pending.push_back(&request);
  } else {
    sequences_.remove_live(*sequence);
    if (!begin(request)) settle(*sequence, true);
  }
}

void RequestLifecycle::on_command(const ForkCommand& command) {
  Sequence* source = sequences_.find(command.source);
  if (source == nullptr) {
    outcome_.released.push_back(command.target);
    return;
  }
  Sequence& target = sequences_.create(command.target, source->blocks.tenant_salt);
  if (source->is_busy()) {
    target.is_awaiting_fork = true;
    source->pending.push_back(PendingFork{target.id, command.num_tokens});
  } else {
    fork_into(*source, target, command.num_tokens);
  }
}

void RequestLifecycle::on_command(const ReleaseCommand& command) {
  Sequence* sequence = sequences_.find(command.sequence);
  if (sequence == nullptr) return;
  if (sequence->is_busy()) {
    sequence->is_release_requested = true;
  } else {
    sequences_.remove_live(*sequence);
    sequences_.erase(*sequence);
  }
}

void RequestLifecycle::on_command(const AbortCommand& command) {
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

void RequestLifecycle::on_command(const PauseCommand& command) {
  const auto it = requests_.find(command.request);
  if (it == requests_.end() || it->second->is_paused) return;
  it->second->is_paused = true;
  if (it->second->has_begun) scheduler_.pause(*it->second);
}

void RequestLifecycle::on_command(const ResumeCommand& command) {
  const auto it = requests_.find(command.request);
  if (it == requests_.end() || !it->second->is_paused) return;
  it->second->is_paused = false;
  if (it->second->has_begun) scheduler_.resume(*it->second);
}

// ---- sequences ---------------------------------------------------------------------------------

Request& RequestLifecycle::create_request(RequestId id, RequestOptions options,
                                          Sequence* sequence) {
  auto request = std::make_unique<Request>();
  request->id = id;
  request->options = std::move(options);
  request->sequence = sequence;
  if (request->options.grammar != nullptr) {
    request->grammar.emplace(request->options.grammar, request->options.stop_token_ids,
                             limits_.vocab);
  }
  return *(requests_[id] = std::move(request));
}

/// Appends the prompt to its idle sequence and queues the request. False: the request failed and
/// the sequence is as it was.
bool RequestLifecycle::begin(Request& request) {
  Sequence& sequence = *request.sequence;
  if (!check_length(request.options, limits_, sequence.num_tokens()).ok()) {
    end_failed(request, ErrorCode::kContextTooLong);
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
void RequestLifecycle::rewind(Request& request) {
  Sequence& sequence = *request.sequence;
  sequence.tokens.resize(static_cast<size_t>(request.num_joined_tokens));
  const size_t num_full = static_cast<size_t>(request.num_joined_tokens / kv_.block_size());
  sequence.blocks.hashes.resize(std::min(sequence.blocks.hashes.size(), num_full));
}

/// A sequence without a running request: serves what waits for it, then keeps or erases it.
void RequestLifecycle::settle(Sequence& sequence, bool keep) {
  sequence.request = nullptr;
  kv_.trim(sequence.blocks, sequence.num_computed_tokens);
  kv_.mark_branch_point(sequence.blocks, sequence.num_computed_tokens);
  while (!sequence.pending.empty()) {
    const auto operation = sequence.pending.front();
    sequence.pending.pop_front();
    if (const auto* fork = std::get_if<PendingFork>(&operation)) {
      fork_into(sequence, *sequences_.find(fork->target), fork->num_tokens);
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

void RequestLifecycle::fork_into(const Sequence& source, Sequence& target,
                                 std::optional<int> num_tokens) {
  const int num_kept = num_tokens.value_or(source.num_tokens());
  if (num_kept > source.num_tokens()) {  // a continuation ended before it had begun
    abandon(target);
    return;
  }
  target.tokens.assign(source.tokens.begin(), source.tokens.begin() + num_kept);
  target.num_computed_tokens = std::min(source.num_computed_tokens, num_kept);
  target.blocks = kv_.fork(source.blocks, num_kept);
  if (target.blocks.is_empty()) target.num_computed_tokens = 0;
  target.is_awaiting_fork = false;
  settle(target, true);
}

/// Erases a sequence whose content is not to be trusted, and fails what waits for it.
void RequestLifecycle::abandon(Sequence& sequence) {
  for (const auto& operation : std::exchange(sequence.pending, {})) {
    if (const auto* fork = std::get_if<PendingFork>(&operation)) {
      abandon(*sequences_.find(fork->target));
    } else {
      end_failed(*std::get<Request*>(operation), ErrorCode::kSequenceReleased);
    }
  }
  kv_.discard(sequence.blocks);
  sequences_.erase(sequence);
}

// ---- ends and events ---------------------------------------------------------------------------

void RequestLifecycle::admit(const Request& request) {
  ++outcome_.num_left_queue;
  event_of(request).is_admitted = true;
}

void RequestLifecycle::finish(Request& request, FinishReason reason) {
  if (request.held_token) return end_rest(request, true);
  Sequence& sequence = *request.sequence;
  const bool keep = request.options.keep_sequence;
  // A continuation finds all but the last token computed, as after any other turn.
  if (keep && !sequence.is_release_requested && sequence.num_uncomputed_tokens() > 1) {
    event_of(request).finish = reason;
    return begin_rest(request);
  }
  scheduler_.remove(request);
  end_request(request, reason);
  settle(sequence, keep);
}

void RequestLifecycle::begin_rest(Request& request) {
  Sequence& sequence = *request.sequence;
  outcome_.live.push_back({sequence.id, sequence.num_tokens()});
  request.held_token = sequence.tokens.back();
  sequence.tokens.pop_back();
  request.options.prefill_only = true;
  request.grammar.reset();
  scheduler_.put_last(request);
  auto ended = requests_.extract(request.id);
  rests_.insert(std::move(ended));
}

void RequestLifecycle::end_rest(Request& request, bool keep) {
  Sequence& sequence = *request.sequence;
  sequence.tokens.push_back(*request.held_token);
  scheduler_.remove(request);
  rests_.erase(request.id);
  settle(sequence, keep);
}

void RequestLifecycle::fail(Request& request, ErrorCode code) {
  Sequence& sequence = *request.sequence;
  scheduler_.remove(request);
  end_failed(request, code);
  settle(sequence, false);
}

void RequestLifecycle::fail_with_sequence(Request& request, ErrorCode code) {
  Sequence& sequence = *request.sequence;
  scheduler_.remove(request);
  end_failed(request, code);
  abandon(sequence);
}

void RequestLifecycle::fail_all(ErrorCode code) {
  for (auto& [id, request] : requests_) {
    RequestEvent& event = event_of(*request);
    event.finish = FinishReason::kFailed;
    event.error = code;
    if (!request->is_admitted) ++outcome_.num_left_queue;
  }
  requests_.clear();
  rests_.clear();
  scheduler_.clear();
  sequences_.clear();
}

void RequestLifecycle::end_failed(Request& request, ErrorCode code) {
  event_of(request).error = code;
  end_request(request, FinishReason::kFailed);
}

/// The request's last event; the request is gone afterwards.
void RequestLifecycle::end_request(Request& request, FinishReason reason) {
  event_of(request).finish = reason;
  if (!request.is_admitted) ++outcome_.num_left_queue;
  const RequestId id = request.id;
  requests_.erase(id);
}

RequestEvent& RequestLifecycle::event_of(const Request& request) {
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

StepOutcome RequestLifecycle::take_outcome() {
  for (const SequenceId id : sequences_.take_released()) outcome_.released.push_back(id);
  return std::exchange(outcome_, {});
}

}  // namespace wl::engine
