#pragma once
// The engine without its thread: requests, sequences, scheduler, KV bookkeeping, sampling and the
// model runner, driven one command and one step at a time. Deterministic and free of locks, so
// tests drive it directly; engine.cpp gives it a thread and a queue.

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/batch_builder.h"
#include "engine/commands.h"
#include "engine/mask_worker.h"
#include "engine/request_lifecycle.h"
#include "engine/request_limits.h"
#include "engine/scheduler.h"
#include "engine/sequence_table.h"
#include "kv/kv_cache_manager.h"
#include "sampling/sampler.h"

namespace wl::engine {

class EngineCore {
 public:
  EngineCore(ModelRunner& runner, const EngineConfig& config);

  /// Precondition: the command was validated, ids are fresh where commands.h says so.
  void apply(Command command) { lifecycle_.apply(std::move(command)); }
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
  void run_step();
  static std::vector<const OutputGrammar*> grammars_to_sample(const StepPlan& plan);
  void commit(const ScheduledTokens& scheduled, std::span<const float> logits,
              MaskWorker::Batch& masks);
  std::optional<int32_t> sample(Request& request, std::span<const float> logits,
                                MaskWorker::Batch& masks);
  void end_at_empty_mask(Request& request);
  static std::optional<int32_t> forced_token(const Request& request);
  uint64_t append_run(Request& request, int32_t first_token);
  bool append(Request& request, int32_t token);
  void report_rows(const ScheduledTokens& scheduled, std::span<const float> logits);
  bool append_prompt_logprobs(const ScheduledTokens& scheduled, std::span<const float> logits);
  bool append_logprobs(const Request& request, std::span<const float> logits, int32_t token);

  ModelRunner& runner_;
  const RequestLimits limits_;
  kv::KvCacheManager kv_;
  SequenceTable sequences_;
  Scheduler scheduler_;
  RequestLifecycle lifecycle_;
  sampling::Sampler sampler_;
  MaskWorker mask_worker_;
  std::vector<float> logits_;  // [num_logits, vocab] of the running step
  EngineStats counters_;       // the cumulative fields only
  std::optional<Error> failure_;
};

}  // namespace wl::engine
