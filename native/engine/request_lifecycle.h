#pragma once
// Requests and their sequences from command to end: who waits for whom, what begins when a request
// ends, and what the outside is told of it. Computes nothing. Engine thread only.
//
// The life of a sequence: busy while a request waits or runs on it. When that has ended, and what
// its grammar forced at the end is computed too (without a word to the outside), forks and
// continuations that waited for it take their turn; then it is live (kept), or erased. Each
// request ends in exactly one event with a finish reason.

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "engine/commands.h"
#include "engine/request_limits.h"
#include "engine/scheduler.h"
#include "engine/sequence_table.h"
#include "kv/kv_cache_manager.h"

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

class RequestLifecycle {
 public:
  RequestLifecycle(const RequestLimits& limits, kv::KvCacheManager& kv, SequenceTable& sequences,
                   Scheduler& scheduler)
      : limits_(limits), kv_(kv), sequences_(sequences), scheduler_(scheduler) {}

  /// Precondition: the command was validated, ids are fresh where commands.h says so.
  void apply(Command command);

  // What a step did. A request is gone once it ended.
  void admit(const Request& request);
  void finish(Request& request, FinishReason reason);
  /// Its sequence had to give up its blocks after the request had ended.
  void give_up(Request& request) { end_rest(request, false); }
  /// Its sequence is as good as ever, and what waits for it takes its turn.
  void fail(Request& request, ErrorCode code);
  /// Its KV is not to be trusted: what waits for its sequence fails too.
  void fail_with_sequence(Request& request, ErrorCode code);
  /// Ends every request and forgets every sequence; their blocks stay as they are.
  void fail_all(ErrorCode code);

  /// The request's event in the running report.
  RequestEvent& event_of(const Request& request);
  /// Everything since the last report.
  StepOutcome take_outcome();

 private:
  void on_command(SubmitCommand& command);
  void on_command(ContinueCommand& command);
  void on_command(const ForkCommand& command);
  void on_command(const ReleaseCommand& command);
  void on_command(const AbortCommand& command);
  void on_command(const PauseCommand& command);
  void on_command(const ResumeCommand& command);

  Request& create_request(RequestId id, RequestOptions options, Sequence* sequence);
  bool begin(Request& request);
  void rewind(Request& request);
  void settle(Sequence& sequence, bool keep);
  void fork_into(const Sequence& source, Sequence& target, std::optional<int> num_tokens);
  void abandon(Sequence& sequence);
  void begin_rest(Request& request);
  void end_rest(Request& request, bool keep);
  void end_failed(Request& request, ErrorCode code);
  void end_request(Request& request, FinishReason reason);

  const RequestLimits limits_;
  kv::KvCacheManager& kv_;
  SequenceTable& sequences_;
  Scheduler& scheduler_;
  std::unordered_map<RequestId, std::unique_ptr<Request>> requests_;
  std::unordered_map<RequestId, std::unique_ptr<Request>> rests_;  // have ended, held_token is set
  StepOutcome outcome_;                                            // since the last report
};

}  // namespace wl::engine
