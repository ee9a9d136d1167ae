#include "addon/event_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace wl::addon {
namespace {

using engine::RequestEvent;
using engine::StepEvents;

/// [n] values of one field, as a typed array of JS.
template <class Array, class Get>
Array column(Napi::Env env, const std::vector<RequestEvent>& events, Get get) {
  Array out = Array::New(env, events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    out[i] = static_cast<std::remove_reference_t<decltype(out[i])>>(get(events[i]));
  }
  return out;
}

/// Ragged values of one field: [n + 1] starts and the values end to end.
template <class Array, class Element>
void set_ragged(Napi::Object& out, const char* starts_name, const char* values_name,
                const std::vector<RequestEvent>& events,
                std::vector<Element> RequestEvent::* field) {
  auto starts = Napi::Uint32Array::New(out.Env(), events.size() + 1);
  size_t total = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    starts[i] = static_cast<uint32_t>(total);
    total += (events[i].*field).size();
  }
  starts[events.size()] = static_cast<uint32_t>(total);
  Array values = Array::New(out.Env(), total);
  Element* to = values.Data();
  for (const RequestEvent& event : events) {
    to = std::copy((event.*field).begin(), (event.*field).end(), to);
  }
  out.Set(starts_name, starts);
  out.Set(values_name, values);
}

Napi::Object to_js(Napi::Env env, const StepEvents& step) {
  const auto& events = step.events;
  using E = RequestEvent;
  Napi::Object out = Napi::Object::New(env);
  out.Set("requestIds",
          column<Napi::Uint32Array>(env, events, [](const E& e) { return e.request; }));
  out.Set("sequenceIds",
          column<Napi::Uint32Array>(env, events, [](const E& e) { return e.sequence; }));
  set_ragged<Napi::Int32Array>(out, "tokenStart", "tokens", events, &E::tokens);
  out.Set("finish", column<Napi::Uint8Array>(env, events, [](const E& e) { return e.finish; }));
  out.Set("admitted",
          column<Napi::Uint8Array>(env, events, [](const E& e) { return e.is_admitted; }));
  out.Set("promptTokens",
          column<Napi::Int32Array>(env, events, [](const E& e) { return e.prompt_tokens; }));
  out.Set("cachedTokens",
          column<Napi::Int32Array>(env, events, [](const E& e) { return e.cached_tokens; }));
  out.Set("liveHit",
          column<Napi::Uint8Array>(env, events, [](const E& e) { return e.is_live_hit; }));
  out.Set("preemptedTokens",
          column<Napi::Int32Array>(env, events, [](const E& e) { return e.preempted_tokens; }));
  out.Set("errorCode", column<Napi::Uint8Array>(env, events, [](const E& e) { return e.error; }));
  set_ragged<Napi::Float32Array>(out, "logitsStart", "logits", events, &E::logits);
  out.Set("stepUs", Napi::Number::New(env, static_cast<double>(step.step_us)));
  return out;
}

}  // namespace

std::shared_ptr<EventQueue> EventQueue::create(Napi::Env env, const Napi::Function& on_step) {
  auto queue = std::make_shared<EventQueue>();
  queue->function_ = Napi::ThreadSafeFunction::New(env, on_step, "warmloop engine steps", 0, 1);
  queue->function_.Unref(env);
  return queue;
}

void EventQueue::push(StepEvents step) {
  {
    std::lock_guard lock(mutex_);
    if (is_closed_) return;
    pending_.step_us += step.step_us;
    std::move(step.events.begin(), step.events.end(), std::back_inserter(pending_.events));
    if (is_armed_) return;
    is_armed_ = true;
  }
  auto self = shared_from_this();
  const napi_status status = function_.NonBlockingCall(
      [self](Napi::Env env, Napi::Function on_step) { self->deliver(env, on_step); });
  if (status != napi_ok) {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
}

void EventQueue::add_open_request(Napi::Env env, std::shared_ptr<void> owner) {
  if (num_open_requests_++ > 0) return;
  function_.Ref(env);
  owner_ = std::move(owner);
}

void EventQueue::deliver(Napi::Env env, const Napi::Function& on_step) {
  StepEvents step;
  {
    std::lock_guard lock(mutex_);
    std::swap(step, pending_);
    is_armed_ = false;
  }
  // A null environment is one that is going away.
  if (static_cast<napi_env>(env) == nullptr || step.events.empty()) return;
  for (const RequestEvent& event : step.events) {
    if (event.finish != engine::FinishReason::kNone) --num_open_requests_;
  }
  std::shared_ptr<void> owner;  // outlives the call below
  if (num_open_requests_ == 0) {
    function_.Unref(env);
    owner = std::exchange(owner_, nullptr);
  }
  on_step.Call({to_js(env, step)});
}

void EventQueue::finish(Napi::Env env, std::function<void(Napi::Env)> done) {
  function_.Ref(env);
  auto self = shared_from_this();
  const napi_status status = function_.NonBlockingCall(
      [self, done = std::move(done)](Napi::Env call_env, Napi::Function on_step) {
        if (static_cast<napi_env>(call_env) == nullptr) return;
        // First, so that a throwing `on_step` cannot keep the promise open. What waits on the
        // promise still runs later: microtasks wait for this callback to end.
        done(call_env);
        self->deliver(call_env, on_step);
      });
  if (status == napi_ok) function_.Release();
}

void EventQueue::discard() { function_.Release(); }

}  // namespace wl::addon
