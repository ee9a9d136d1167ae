#include "addon/engine_wrap.h"

#include <utility>

#include "addon/convert.h"
#include "addon/errors.h"

namespace wl::addon {

/// Joins the engine thread off the JS thread: the running step may take a while.
class EngineWrap::CloseWorker : public Napi::AsyncWorker {
 public:
  CloseWorker(Napi::Env env, std::shared_ptr<EngineWrap> wrap)
      : Napi::AsyncWorker(env, "warmloop close engine"), wrap_(std::move(wrap)) {}
  void Execute() override { wrap_->shut_down(); }
  void OnOK() override {
    if (!wrap_->has_cleanup_hook_) return;  // the environment is gone, and its callbacks with it
    wrap_->events_->finish(Env(), [wrap = wrap_](Napi::Env env) { wrap->finish_close(env); });
  }

 private:
  std::shared_ptr<EngineWrap> wrap_;
};

EngineWrap::EngineWrap(Napi::Env env, std::unique_ptr<engine::Engine> engine,
                       std::shared_ptr<EventQueue> events)
    : env_(env), events_(std::move(events)), engine_(std::move(engine)) {
  napi_add_env_cleanup_hook(env_, &EngineWrap::on_environment_teardown, this);
}

EngineWrap::~EngineWrap() {
  shut_down();
  if (!has_cleanup_hook_) return;
  napi_remove_env_cleanup_hook(env_, &EngineWrap::on_environment_teardown, this);
  if (state_ == State::kOpen) events_->discard();
}

Napi::Object EngineWrap::create(Napi::Env env, std::unique_ptr<engine::Engine> engine,
                                std::shared_ptr<EventQueue> events,
                                const engine::EngineInfo& info) {
  auto wrap = std::make_shared<EngineWrap>(env, std::move(engine), std::move(events));
  Napi::Object object = Napi::Object::New(env);
  const auto add = [&](const char* name,
                       Napi::Value (EngineWrap::*method)(const Napi::CallbackInfo&)) {
    const auto entry_point = [wrap, method](const Napi::CallbackInfo& call) {
      return guarded(call.Env(), [&] { return (wrap.get()->*method)(call); });
    };
    object.Set(name, Napi::Function::New(env, entry_point, name));
  };
  object.Set("info", to_js(env, info));
  add("submit", &EngineWrap::submit);
  add("continueSequence", &EngineWrap::continue_sequence);
  add("fork", &EngineWrap::fork);
  add("release", &EngineWrap::release);
  add("abort", &EngineWrap::abort);
  add("pause", &EngineWrap::pause);
  add("resume", &EngineWrap::resume);
  add("stats", &EngineWrap::stats);
  add("close", &EngineWrap::close);
  return object;
}

Napi::Value EngineWrap::submit(const Napi::CallbackInfo& info) {
  engine::RequestOptions request = request_from_js(info[0]);
  return accepted(info.Env(), open_engine(info.Env()).submit(std::move(request)));
}

Napi::Value EngineWrap::continue_sequence(const Napi::CallbackInfo& info) {
  const engine::SequenceId id = id_from_js(info[0], "sequence id");
  engine::RequestOptions request = request_from_js(info[1]);
  return accepted(info.Env(), open_engine(info.Env()).continue_sequence(id, std::move(request)));
}

Napi::Value EngineWrap::fork(const Napi::CallbackInfo& info) {
  const engine::SequenceId id = id_from_js(info[0], "sequence id");
  const auto num_tokens = count_from_js(info[1], "number of tokens");
  const auto forked = value_or_throw(info.Env(), open_engine(info.Env()).fork(id, num_tokens));
  return Napi::Number::New(info.Env(), forked);
}

Napi::Value EngineWrap::release(const Napi::CallbackInfo& info) {
  const engine::SequenceId id = id_from_js(info[0], "sequence id");
  open_engine(info.Env()).release(id);
  return info.Env().Undefined();
}

Napi::Value EngineWrap::abort(const Napi::CallbackInfo& info) {
  const engine::RequestId id = id_from_js(info[0], "request id");
  open_engine(info.Env()).abort(id);
  return info.Env().Undefined();
}

Napi::Value EngineWrap::pause(const Napi::CallbackInfo& info) {
  const engine::RequestId id = id_from_js(info[0], "request id");
  open_engine(info.Env()).pause(id);
  return info.Env().Undefined();
}

Napi::Value EngineWrap::resume(const Napi::CallbackInfo& info) {
  const engine::RequestId id = id_from_js(info[0], "request id");
  open_engine(info.Env()).resume(id);
  return info.Env().Undefined();
}

Napi::Value EngineWrap::stats(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), open_engine(info.Env()).stats());
}

Napi::Value EngineWrap::close(const Napi::CallbackInfo& info) {
  const auto deferred = Napi::Promise::Deferred::New(info.Env());
  if (state_ == State::kClosed) {
    deferred.Resolve(info.Env().Undefined());
    return deferred.Promise();
  }
  close_waiters_.push_back(deferred);
  if (state_ == State::kOpen) {
    state_ = State::kClosing;
    (new CloseWorker(info.Env(), shared_from_this()))->Queue();  // deletes itself
  }
  return deferred.Promise();
}

engine::Engine& EngineWrap::open_engine(Napi::Env env) {
  if (state_ != State::kOpen || engine_ == nullptr) {
    throw js_error(env, {ErrorCode::kEngineClosed, "the engine was closed"});
  }
  return *engine_;
}

Napi::Value EngineWrap::accepted(Napi::Env env, Result<engine::RequestId> id) {
  const engine::RequestId request = value_or_throw(env, std::move(id));
  events_->add_open_request(env, shared_from_this());
  return Napi::Number::New(env, request);
}

void EngineWrap::shut_down() {
  const std::lock_guard lock(shut_down_mutex_);
  if (engine_ == nullptr) return;
  engine_->close();
  engine_.reset();
}

void EngineWrap::finish_close(Napi::Env env) {
  state_ = State::kClosed;
  for (auto& waiter : std::exchange(close_waiters_, {})) waiter.Resolve(env.Undefined());
}

void EngineWrap::on_environment_teardown(void* wrap) {
  auto* self = static_cast<EngineWrap*>(wrap);
  self->has_cleanup_hook_ = false;
  self->shut_down();
}

}  // namespace wl::addon
