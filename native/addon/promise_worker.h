#pragma once
// Work off the JS thread whose result settles a promise. A failure has the JS stack of the call.

#include <napi.h>

#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "addon/errors.h"
#include "base/result.h"

namespace wl::addon {

/// Starts `work` on a thread of its own and returns the promise of `convert` of its value;
/// `convert` runs on the JS thread.
template <class T>
Napi::Promise run_async(Napi::Env env, const char* name, std::function<Result<T>()> work,
                        std::function<Napi::Value(Napi::Env, T)> convert) {
  class Worker : public Napi::AsyncWorker {
   public:
    Worker(Napi::Env env, const char* name, std::function<Result<T>()> work,
           std::function<Napi::Value(Napi::Env, T)> convert)
        : Napi::AsyncWorker(env, name),
          deferred(Napi::Promise::Deferred::New(env)),
          work_(std::move(work)),
          convert_(std::move(convert)),
          call_site_(env) {}

    void Execute() override {
      try {
        result_ = work_();
      } catch (...) {
        result_ = error_of(std::current_exception());
      }
    }

    void OnOK() override {
      if (result_->ok()) {
        deferred.Resolve(convert_(Env(), std::move(*result_).value()));
      } else {
        deferred.Reject(call_site_.error(Env(), result_->error()));
      }
    }

    const Napi::Promise::Deferred deferred;

   private:
    const std::function<Result<T>()> work_;
    const std::function<Napi::Value(Napi::Env, T)> convert_;
    CallSite call_site_;
    std::optional<Result<T>> result_;
  };
  auto* worker = new Worker(env, name, std::move(work), std::move(convert));
  worker->Queue();  // deletes itself
  return worker->deferred.Promise();
}

}  // namespace wl::addon
