#pragma once
// Where callers meet the engine thread: a bounded queue of validated commands, and the ids that
// are known outside. The only part of the engine that several threads touch; one mutex guards it.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "engine/commands.h"
#include "engine/engine_core.h"
#include "engine/request_limits.h"

namespace wl::engine {

class SubmitQueue {
 public:
  SubmitQueue(const RequestLimits& limits, int max_queued)
      : limits_(limits), max_queued_(max_queued) {}

  // Callers, any thread. Contracts as in engine.h.
  Result<RequestId> submit(RequestOptions options);
  Result<RequestId> continue_sequence(SequenceId id, RequestOptions options);
  Result<SequenceId> fork(SequenceId id, std::optional<int> num_tokens);
  void release(SequenceId id);
  void abort(RequestId id);
  void pause(RequestId id);
  void resume(RequestId id);
  /// Rejects everything from now on with ERR_ENGINE_CLOSED and wakes the engine thread.
  void close();
  /// Requests that were accepted and not admitted yet.
  int num_queued() const;

  // Engine thread.
  struct Drained {
    std::vector<Command> commands;  // in the order of the calls
    bool is_closed = false;
  };
  /// Takes all commands. Sleeps while there is nothing to take, unless has_work.
  Drained drain(bool has_work);
  /// Learns which requests ended and which sequences are live or gone, before callers see the
  /// events.
  void settle(const StepOutcome& outcome);
  /// Rejects everything from now on with `error`.
  void fail(const Error& error);

 private:
  Status check_room() const;
  RequestId accept(uint32_t id);
  void tell_open_request(RequestId id, Command command);

  const RequestLimits limits_;
  const int max_queued_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Command> commands_;
  std::optional<Error> refusal_;
  bool is_closed_ = false;
  int num_queued_ = 0;
  uint32_t next_id_ = 1;  // requests and sequences draw from one counter
  std::unordered_set<RequestId> open_requests_;
  /// Sequences that can be continued -> tokens known so far; a lower bound while one runs.
  std::unordered_map<SequenceId, int> sequence_tokens_;
};

}  // namespace wl::engine
