#include "engine/engine.h"

#include <mutex>
#include <thread>
#include <utility>

#include "engine/engine_core.h"
#include "engine/submit_queue.h"

namespace wl::engine {

/// The thread around EngineCore: drain commands, run a step, settle ids, tell the sink.
class Engine::Impl {
 public:
  Impl(std::unique_ptr<ModelRunner> runner, const EngineConfig& config, StepSink sink)
      : runner_(std::move(runner)),
        core_(*runner_, config),
        queue_(request_limits(config, *runner_), config.max_queued),
        sink_(std::move(sink)),
        stats_(core_.stats()),
        thread_([this] { run(); }) {}

  ~Impl() { close(); }

  SubmitQueue& queue() { return queue_; }

  EngineStats stats() const {
    const int num_queued = queue_.num_queued();
    const std::lock_guard lock(stats_mutex_);
    EngineStats stats = stats_;
    stats.num_waiting += num_queued;
    return stats;
  }

  void close() {
    queue_.close();
    std::call_once(joined_, [this] { thread_.join(); });
  }

 private:
  void run() {
    for (;;) {
      SubmitQueue::Drained drained = queue_.drain(core_.has_work());
      for (Command& command : drained.commands) {
        guarded([&] { core_.apply(std::move(command)); });
      }
      if (drained.is_closed) {
        publish(core_.fail_all({ErrorCode::kEngineClosed, "the engine is closed"}));
        return;
      }
      guarded([&] { publish(core_.step()); });
    }
  }

  /// A broken invariant or a runner that throws fails the engine, and so every request.
  template <class Action>
  void guarded(Action action) {
    try {
      action();
    } catch (const std::exception& error) {
      publish(core_.fail_all({ErrorCode::kEngineFailed, error.what()}));
    }
  }

  void publish(StepOutcome outcome) {
    if (core_.failure()) queue_.fail(*core_.failure());
    queue_.settle(outcome);
    {
      const std::lock_guard lock(stats_mutex_);
      stats_ = core_.stats();
    }
    if (!outcome.events.events.empty()) sink_(std::move(outcome.events));
  }

  std::unique_ptr<ModelRunner> runner_;
  EngineCore core_;  // engine thread only, once that runs
  SubmitQueue queue_;
  const StepSink sink_;
  mutable std::mutex stats_mutex_;
  EngineStats stats_;  // as of the last step
  std::once_flag joined_;
  std::thread thread_;  // last: it uses all of the above
};

Engine::Engine(std::unique_ptr<ModelRunner> runner, EngineConfig config, StepSink sink)
    : impl_(std::make_unique<Impl>(std::move(runner), config, std::move(sink))) {}

Engine::~Engine() = default;

Result<RequestId> Engine::submit(RequestOptions options) {
  return impl_->queue().submit(std::move(options));
}

Result<RequestId> Engine::continue_sequence(SequenceId id, RequestOptions options) {
  return impl_->queue().continue_sequence(id, std::move(options));
}

Result<SequenceId> Engine::fork(SequenceId id, std::optional<int> num_tokens) {
  return impl_->queue().fork(id, num_tokens);
}

void Engine::release(SequenceId id) { impl_->queue().release(id); }

void Engine::abort(RequestId id) { impl_->queue().abort(id); }

void Engine::pause(RequestId id) { impl_->queue().pause(id); }

void Engine::resume(RequestId id) { impl_->queue().resume(id); }

EngineStats Engine::stats() const { return impl_->stats(); }

void Engine::close() { impl_->close(); }

}  // namespace wl::engine
