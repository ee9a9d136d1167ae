#pragma once
// Opens an engine off the JS thread and settles the promise that openEngine() returned.

#include <napi.h>

#include <memory>
#include <optional>

#include "addon/errors.h"
#include "addon/event_queue.h"
#include "engine/open_engine.h"

namespace wl::addon {

class OpenWorker : public Napi::AsyncWorker {
 public:
  OpenWorker(Napi::Env env, engine::OpenOptions options, const Napi::Function& on_step);
  ~OpenWorker() override;
  Napi::Promise promise() const { return deferred_.Promise(); }

  void Execute() override;
  void OnOK() override;

 private:
  const engine::OpenOptions options_;
  const Napi::Promise::Deferred deferred_;
  CallSite call_site_;
  std::shared_ptr<EventQueue> events_;  // null once handed to the engine's JS object
  std::unique_ptr<engine::Engine> engine_;
  engine::EngineInfo info_;
  std::optional<Error> failure_;
};

}  // namespace wl::addon
