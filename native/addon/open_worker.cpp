#include "addon/open_worker.h"

#include <utility>

#include "addon/engine_wrap.h"

namespace wl::addon {

OpenWorker::OpenWorker(Napi::Env env, engine::OpenOptions options, const Napi::Function& on_step)
    : Napi::AsyncWorker(env, "warmloop open engine"),
      options_(std::move(options)),
      deferred_(Napi::Promise::Deferred::New(env)),
      call_site_(env),
      events_(EventQueue::create(env, on_step)) {}

OpenWorker::~OpenWorker() {
  engine_.reset();  // its thread pushes into the queue
  if (events_ != nullptr) events_->discard();
}

void OpenWorker::Execute() {
  try {
    const auto sink = [events = events_](engine::StepEvents step) {
      events->push(std::move(step));
    };
    auto opened = engine::open_engine(options_, sink, &info_);
    if (opened.ok()) {
      engine_ = std::move(opened).value();
    } else {
      failure_ = opened.error();
    }
  } catch (...) {
    failure_ = error_of(std::current_exception());
  }
}

void OpenWorker::OnOK() {
  if (failure_.has_value()) {
    deferred_.Reject(call_site_.error(Env(), *failure_));
    return;
  }
  deferred_.Resolve(
      EngineWrap::create(Env(), std::move(engine_), std::exchange(events_, nullptr), info_));
}

}  // namespace wl::addon
