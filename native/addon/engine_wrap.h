#pragma once
// One engine as JS sees it: a plain object whose functions share one EngineWrap. Functions rather
// than a class with methods: there is no constructor to call wrongly and no receiver to forge.
// Lives on the JS thread; only `shut_down` also runs on a worker thread. The environment's clean-up
// hook stops the engine thread, so process.exit, a worker's end and a forgotten close() are clean.

#include <napi.h>

#include <memory>
#include <mutex>
#include <vector>

#include "addon/event_queue.h"
#include "engine/open_engine.h"

namespace wl::addon {

class EngineWrap : public std::enable_shared_from_this<EngineWrap> {
 public:
  /// Takes over an opened engine and returns its JS object.
  static Napi::Object create(Napi::Env env, std::unique_ptr<engine::Engine> engine,
                             std::shared_ptr<EventQueue> events, const engine::EngineInfo& info);
  EngineWrap(Napi::Env env, std::unique_ptr<engine::Engine> engine,
             std::shared_ptr<EventQueue> events);
  ~EngineWrap();
  EngineWrap(const EngineWrap&) = delete;
  EngineWrap& operator=(const EngineWrap&) = delete;

 private:
  class CloseWorker;
  enum class State { kOpen, kClosing, kClosed };

  Napi::Value submit(const Napi::CallbackInfo& info);
  Napi::Value continue_sequence(const Napi::CallbackInfo& info);
  Napi::Value fork(const Napi::CallbackInfo& info);
  Napi::Value release(const Napi::CallbackInfo& info);
  Napi::Value abort(const Napi::CallbackInfo& info);
  Napi::Value pause(const Napi::CallbackInfo& info);
  Napi::Value resume(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  /// The engine, or ERR_ENGINE_CLOSED once close() was called.
  engine::Engine& open_engine(Napi::Env env);
  Napi::Value accepted(Napi::Env env, Result<engine::RequestId> id);
  /// Joins the engine thread and frees the engine. Idempotent; any thread but the engine's.
  void shut_down();
  void finish_close(Napi::Env env);
  static void on_environment_teardown(void* wrap);

  Napi::Env env_;
  State state_ = State::kOpen;
  std::vector<Napi::Promise::Deferred> close_waiters_;
  std::shared_ptr<EventQueue> events_;
  bool has_cleanup_hook_ = true;

  std::mutex shut_down_mutex_;
  std::unique_ptr<engine::Engine> engine_;  // JS thread; freed under the mutex
};

}  // namespace wl::addon
