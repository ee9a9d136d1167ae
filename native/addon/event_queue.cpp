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

/// [n + 1] where the values of each event start in a ragged field. get(event): its values.
template <class Get>
Napi::Uint32Array starts(Napi::Env env, const std::vector<RequestEvent>& events, Get get) {
  auto out = Napi::Uint32Array::New(env, events.size() + 1);
  size_t total = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    out[i] = static_cast<uint32_t>(total);
    total += get(events[i]).size();
  }
  out[events.size()] = static_cast<uint32_t>(total);
  return out;
}

/// The values of a ragged field, end to end.
template <class Array, class Get>
Array values(Napi::Env env, const std::vector<RequestEvent>& events, Get get) {
  size_t total = 0;
  for (const RequestEvent& event : events) total += get(event).size();
  Array out = Array::New(env, total);
  auto* to = out.Data();
  for (const RequestEvent& event : events) to = std::ranges::copy(get(event), to).out;
  return out;
}

Napi::Object to_js(Napi::Env env, const StepEvents& step) {
  const auto& events = step.events;
  using E = RequestEvent;
  Napi::Object out = Napi::Object::New(env);
  out.Set("requestIds",
          column<Napi::Uint32Array>(env, events, [](const E& e) { return e.request; }));
  out.Set("sequenceIds",
          column<Napi::Uint32Array>(env, events, [](const E& e) { return e.sequence; }));
  const auto tokens = [](const E& e) -> const auto& { return e.tokens; };
  out.Set("tokenStart", starts(env, events, tokens));
  out.Set("tokens", values<Napi::Int32Array>(env, events, tokens));
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
  const auto logits = [](const E& e) -> const auto& { return e.logits; };
  out.Set("logitsStart", starts(env, events, logits));
  out.Set("logits", values<Napi::Float32Array>(env, events, logits));
  const auto logprob_tokens = [](const E& e) -> const auto& { return e.logprobs.tokens; };
  const auto logprobs = [](const E& e) -> const auto& { return e.logprobs.logprobs; };
  out.Set("logprobsStart", starts(env, events, logprobs));
  out.Set("logprobTokens", values<Napi::Int32Array>(env, events, logprob_tokens));
  out.Set("logprobs", values<Napi::Float64Array>(env, events, logprobs));
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
