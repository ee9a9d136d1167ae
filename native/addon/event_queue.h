#pragma once
// Step events on their way from the engine thread into JS: one JS call for a step, for all requests
// together. When JS lags, the events of later steps join the call that is already on its way; the
// engine thread never waits. `push` runs on the engine thread, everything else on the JS thread.
//
// A queue keeps Node's event loop alive only while a request is open.

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>

#include "engine/engine.h"

namespace wl::addon {

class EventQueue : public std::enable_shared_from_this<EventQueue> {
 public:
  static std::shared_ptr<EventQueue> create(Napi::Env env, const Napi::Function& on_step);

  /// Engine thread. Never blocks; after the environment is gone the events are dropped.
  void push(engine::StepEvents step);

  /// A request was accepted: the event loop and `owner` stay alive until its last event was
  /// delivered.
  void add_open_request(Napi::Env env, std::shared_ptr<void> owner);

  /// Delivers what is left, then calls `done` and gives the thread-safe function up. The engine
  /// thread must have ended. Once.
  void finish(Napi::Env env, std::function<void(Napi::Env)> done);

  /// Gives up without delivering: nobody is left to hear. Once, instead of `finish`.
  void discard();

 private:
  void deliver(Napi::Env env, const Napi::Function& on_step);

  Napi::ThreadSafeFunction function_;
  int num_open_requests_ = 0;    // JS thread
  std::shared_ptr<void> owner_;  // JS thread; set while a request is open

  std::mutex mutex_;
  engine::StepEvents pending_;  // events of all steps not delivered yet, in order
  bool is_armed_ = false;       // a call is on its way and will take `pending_`
  bool is_closed_ = false;      // the environment refused a call: neither call nor release again
};

}  // namespace wl::addon
