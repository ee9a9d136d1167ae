#include "engine/submit_queue.h"

#include <string>
#include <utility>

namespace wl::engine {
namespace {

Error released_error(SequenceId id) {
  return {ErrorCode::kSequenceReleased,
          "sequence " + std::to_string(id) + " was released, its tokens must be submitted again"};
}

}  // namespace

Result<RequestId> SubmitQueue::submit(RequestOptions options) {
  WL_RETURN_IF_ERROR(validate(options, limits_, 0));
  const std::lock_guard lock(mutex_);
  WL_RETURN_IF_ERROR(check_room());
  const RequestId request = accept(next_id_++);
  const SequenceId sequence = next_id_++;
  sequence_tokens_[sequence] = static_cast<int>(options.tokens.size());
  commands_.push_back(SubmitCommand{request, sequence, std::move(options)});
  wake_.notify_one();
  return request;
}

Result<RequestId> SubmitQueue::continue_sequence(SequenceId id, RequestOptions options) {
  WL_RETURN_IF_ERROR(validate(options, limits_, 0));
  if (options.logprobs && options.logprobs->of_prompt) {
    return Error{ErrorCode::kInvalidArgument,
                 "log probabilities of a prompt need all of it: submit it as a whole"};
  }
  const std::lock_guard lock(mutex_);
  WL_RETURN_IF_ERROR(check_room());
  const auto it = sequence_tokens_.find(id);
  if (it == sequence_tokens_.end()) return released_error(id);
  WL_RETURN_IF_ERROR(check_length(options, limits_, it->second));
  it->second += static_cast<int>(options.tokens.size());
  const RequestId request = accept(next_id_++);
  commands_.push_back(ContinueCommand{request, id, std::move(options)});
  wake_.notify_one();
  return request;
}

Result<SequenceId> SubmitQueue::fork(SequenceId id, std::optional<int> num_tokens) {
  const std::lock_guard lock(mutex_);
  WL_RETURN_IF_ERROR(check_room());
  const auto it = sequence_tokens_.find(id);
  if (it == sequence_tokens_.end()) return released_error(id);
  const int num_source_tokens = it->second;
  if (num_tokens && (*num_tokens < 1 || *num_tokens > num_source_tokens)) {
    return Error{ErrorCode::kInvalidArgument,
                 "sequence " + std::to_string(id) + " has " + std::to_string(num_source_tokens) +
                     " tokens, it cannot be forked after " + std::to_string(*num_tokens)};
  }
  const SequenceId target = next_id_++;
  sequence_tokens_[target] = num_tokens.value_or(num_source_tokens);
  commands_.push_back(ForkCommand{id, target, num_tokens});
  wake_.notify_one();
  return target;
}

void SubmitQueue::release(SequenceId id) {
  const std::lock_guard lock(mutex_);
  if (refusal_ || sequence_tokens_.erase(id) == 0) return;
  commands_.push_back(ReleaseCommand{id});
  wake_.notify_one();
}

void SubmitQueue::abort(RequestId id) {
  const std::lock_guard lock(mutex_);
  if (refusal_ || open_requests_.erase(id) == 0) return;
  commands_.push_back(AbortCommand{id});
  wake_.notify_one();
}

void SubmitQueue::pause(RequestId id) { tell_open_request(id, PauseCommand{id}); }

void SubmitQueue::resume(RequestId id) { tell_open_request(id, ResumeCommand{id}); }

void SubmitQueue::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  refusal_ = Error{ErrorCode::kEngineClosed, "the engine is closed"};
  wake_.notify_one();
}

int SubmitQueue::num_queued() const {
  const std::lock_guard lock(mutex_);
  return num_queued_;
}

SubmitQueue::Drained SubmitQueue::drain(bool has_work) {
  std::unique_lock lock(mutex_);
  if (!has_work) wake_.wait(lock, [this] { return is_closed_ || !commands_.empty(); });
  return {std::exchange(commands_, {}), is_closed_};
}

void SubmitQueue::settle(const StepOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  num_queued_ -= outcome.num_left_queue;
  for (const RequestEvent& event : outcome.events.events) {
    if (event.finish != FinishReason::kNone) open_requests_.erase(event.request);
  }
  for (const LiveSequence& live : outcome.live) {
    const auto it = sequence_tokens_.find(live.id);
    if (it != sequence_tokens_.end()) it->second = live.num_tokens;
  }
  for (const SequenceId id : outcome.released) sequence_tokens_.erase(id);
}

void SubmitQueue::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!refusal_) refusal_ = error;
}

Status SubmitQueue::check_room() const {
  if (refusal_) return *refusal_;
  if (num_queued_ < max_queued_ && commands_.size() < static_cast<size_t>(max_queued_)) return {};
  return {ErrorCode::kQueueFull, std::to_string(num_queued_) +
                                     " requests are waiting, this engine queues " +
                                     std::to_string(max_queued_)};
}

void SubmitQueue::tell_open_request(RequestId id, Command command) {
  const std::lock_guard lock(mutex_);
  if (refusal_ || !open_requests_.contains(id)) return;
  commands_.push_back(std::move(command));
  wake_.notify_one();
}

RequestId SubmitQueue::accept(uint32_t id) {
  ++num_queued_;
  open_requests_.insert(id);
  return id;
}

}  // namespace wl::engine
