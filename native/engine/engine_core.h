#pragma once
// The engine without its thread: requests, sequences, scheduler, KV bookkeeping, sampling and the
// model runner, driven one command and one step at a time. Deterministic and free of locks, so
// tests drive it directly; engine.cpp gives it a thread and a queue.
//
// The life of a sequence: busy while a request waits or runs on it. When that ends, forks and
// continuations that waited for it take their turn; then it is live (kept), or erased. Each
// request ends in exactly one event with a finish reason.

#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "engine/batch_builder.h"
#include "engine/commands.h"
#include "engine/request_limits.h"
#include "engine/scheduler.h"
#include "engine/sequence_table.h"
#include "kv/kv_cache_manager.h"
#include "sampling/sampler.h"

namespace wl::engine {

struct LiveSequence {
  SequenceId id = 0;
  int num_tokens = 0;
};

/// What a step tells the outside. Sequence ids are settled before the events are seen.
struct StepOutcome {
  StepEvents events;
  std::vector<LiveSequence> live;    // became live, or live again
  std::vector<SequenceId> released;  // gone for good
  int num_left_queue = 0;            // requests admitted, or ended before that
};

class EngineCore {
 public:
  EngineCore(ModelRunner& runner, const EngineConfig& config);

  /// Precondition: the command was validated, ids are fresh where commands.h says so.
  void apply(Command command);
  bool has_work() const { return scheduler_.has_work(); }
  /// Plans and computes one step when there is work, and reports everything since the last report.
  StepOutcome step();
  /// Ends every request with `code` and forgets every sequence. From then on nothing runs: step()
  /// fails whatever was applied since. Used for close and for failures that no request caused.
  StepOutcome fail_all(Error error);
  /// Why nothing runs any more.
  const std::optional<Error>& failure() const { return failure_; }

  /// num_waiting counts preempted requests only: the submit queue knows those never admitted.
  EngineStats stats() const;
  /// Throws InternalError when an invariant of the KV bookkeeping is broken.
  void check_integrity() const;

 private:
  void on_command(SubmitCommand& command);
  void on_command(ContinueCommand& command);
  void on_command(const ForkCommand& command);
  void on_command(const ReleaseCommand& command);
  void on_command(const AbortCommand& command);

  Request& create_request(RequestId id, RequestOptions options, Sequence* sequence);
  bool begin(Request& request);
  void rewind(Request& request);
  void settle(Sequence& sequence, bool keep);
  void fork_into(const Sequence& source, Sequence& target);
  void abandon(Sequence& sequence);

  void run_step();
  void commit(const ScheduledTokens& scheduled, std::span<const float> logits);
  void append_logits(const ScheduledTokens& scheduled, std::span<const float> logits);
  void on_sampled(Request& request, int32_t token);
  void finish(Request& request, FinishReason reason);
  void fail(Request& request, ErrorCode code);
  void end_request(Request& request, FinishReason reason);
  RequestEvent& event_of(const Request& request);
  StepOutcome take_outcome();

  ModelRunner& runner_;
  const RequestLimits limits_;
  kv::KvCacheManager kv_;
  SequenceTable sequences_;
  Scheduler scheduler_;
  sampling::Sampler sampler_;
  std::unordered_map<RequestId, std::unique_ptr<Request>> requests_;
  std::vector<float> logits_;  // [num_logits, vocab] of the running step
  StepOutcome outcome_;        // since the last report
  EngineStats counters_;       // the cumulative fields only
  std::optional<Error> failure_;
};

}  // namespace wl::engine
