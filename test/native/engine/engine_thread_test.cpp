// The engine with its thread: callers on several threads, bounds, failure and close.

#include <climits>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "check.h"
#include "engine/engine.h"
#include "toy_grammar.h"

using namespace wl::test;
using wl::ErrorCode;
using wl::engine::Engine;
using wl::engine::StepEvents;

namespace {

/// Collects events on the engine thread; callers wait for a request's end.
class Listener {
 public:
  struct Heard : Output {
    SequenceId sequence = 0;
    ErrorCode error = ErrorCode::kInternal;
    int num_finishes = 0;
  };

  wl::engine::StepSink sink() {
    return [this](StepEvents step) {
      const std::lock_guard lock(mutex_);
      for (const auto& event : step.events) {
        Heard& heard = heard_[event.request];
        heard.tokens = heard.tokens + event.tokens;
        heard.sequence = event.sequence;
        if (event.finish == FinishReason::kNone) continue;
        heard.finish = event.finish;
        heard.error = event.error;
        ++heard.num_finishes;
      }
      changed_.notify_all();
    };
  }

  Heard wait_for_end(RequestId request) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return heard_[request].num_finishes > 0; });
    return heard_[request];
  }
  Heard wait_for_tokens(RequestId request, size_t num_tokens) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return heard_[request].tokens.size() >= num_tokens; });
    return heard_[request];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<RequestId, Heard> heard_;
};

/// A runner whose forward() waits until the test opens the gate.
class GatedRunner : public ToyRunner {
 public:
  using ToyRunner::ToyRunner;
  wl::Status forward(const wl::engine::StepBatch& batch, float* logits) override {
    std::unique_lock lock(mutex);
    is_entered = true;
    changed.notify_all();
    changed.wait(lock, [this] { return is_open; });
    return ToyRunner::forward(batch, logits);
  }
  void wait_until_entered() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return is_entered; });
  }
  void open() {
    const std::lock_guard lock(mutex);
    is_open = true;
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool is_entered = false, is_open = false;
};

/// Throws where a real runner would return an error.
class ThrowingRunner : public ToyRunner {
 public:
  using ToyRunner::ToyRunner;
  wl::Status forward(const wl::engine::StepBatch&, float*) override {
    throw wl::InternalError("the toy device has no such op");
  }
};

wl::engine::EngineConfig toy_config() { return ToyEngineOptions{}.config; }

ErrorCode code_of(const wl::Result<RequestId>& result) {
  WL_CHECK(!result.ok());
  return result.ok() ? ErrorCode::kInternal : result.error().code;
}

}  // namespace

WL_TEST("engine thread: callers on four threads get what they would get alone") {
  Listener listener;
  Engine engine(std::make_unique<ToyRunner>(40, 16), toy_config(), listener.sink());
  std::vector<std::thread> callers;
  std::vector<std::string> faults(4);
  for (unsigned caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (unsigned i = 0; i < 10; ++i) {
        const Tokens prompt = random_tokens(caller * 100 + i, 30 + static_cast<int>(i));
        RequestOptions options = make_request(prompt, 6);
        options.keep_sequence = true;
        const auto first = listener.wait_for_end(engine.submit(options).value());
        if (first.tokens != expected_output(prompt, options, 640).tokens) faults[caller] = "submit";
        const Tokens more = random_tokens(i, 5);
        const auto branch = engine.fork(first.sequence);
        if (!branch.ok()) continue;  // released under pressure
        const auto second = engine.continue_sequence(branch.value(), make_request(more, 6));
        engine.release(first.sequence);
        if (i % 3 == 0) engine.abort(second.ok() ? second.value() : 0);
        engine.stats();
        if (!second.ok()) continue;
        const auto heard = listener.wait_for_end(second.value());
        const Tokens whole = prompt + first.tokens + more;
        if (heard.finish == FinishReason::kLength &&
            heard.tokens != expected_output(whole, make_request({}, 6), 640).tokens) {
          faults[caller] = "continue";
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::string& fault : faults) WL_CHECK_EQ(fault, "");
}

WL_TEST("engine thread: bad requests are refused at the call, with the facts") {
  Listener listener;
  Engine engine(std::make_unique<ToyRunner>(4, 16), toy_config(), listener.sink());
  WL_CHECK(code_of(engine.submit(make_request({}))) == ErrorCode::kInvalidArgument);
  WL_CHECK(code_of(engine.submit(make_request({1, 64}))) == ErrorCode::kInvalidArgument);
  WL_CHECK(code_of(engine.submit(make_request({-1}))) == ErrorCode::kInvalidArgument);
  WL_CHECK(code_of(engine.submit(make_request({1}, 0))) == ErrorCode::kInvalidArgument);
  RequestOptions hot = make_request({1});
  hot.sampling.temperature = -1;
  WL_CHECK(code_of(engine.submit(hot)) == ErrorCode::kInvalidArgument);
  const auto too_long = engine.submit(make_request(random_tokens(1, 64)));
  WL_CHECK(code_of(too_long) == ErrorCode::kContextTooLong);
  WL_CHECK_EQ(too_long.error().message,
              "the prompt has 64 tokens, this engine takes 64 with the output");
  WL_CHECK(code_of(engine.continue_sequence(99, make_request({1}))) ==
           ErrorCode::kSequenceReleased);
  WL_CHECK(!engine.fork(99).ok());
  engine.release(99);
  engine.abort(99);
}

WL_TEST("engine thread: a fork takes no more tokens than there are, and at least one") {
  Listener listener;
  Engine engine(std::make_unique<ToyRunner>(4, 16), toy_config(), listener.sink());
  RequestOptions options = make_request(random_tokens(1, 20), 4);
  options.keep_sequence = true;
  const auto turn = listener.wait_for_end(engine.submit(options).value());
  for (const int num_tokens : {0, 25, INT_MAX}) {
    WL_CHECK(code_of(engine.fork(turn.sequence, num_tokens)) == ErrorCode::kInvalidArgument);
  }
  WL_CHECK(engine.fork(turn.sequence, 24).ok());
  const Tokens prompt = random_tokens(1, 20), more = random_tokens(2, 5);
  const auto branch = engine.fork(turn.sequence, 18).value();
  const auto heard =
      listener.wait_for_end(engine.continue_sequence(branch, make_request(more, 4)).value());
  const Tokens whole = Tokens(prompt.begin(), prompt.begin() + 18) + more;
  WL_CHECK(heard.tokens == expected_output(whole, make_request({}, 4), 64).tokens);
}

WL_TEST("engine thread: a live sequence can be continued as soon as its end was heard") {
  Listener listener;
  Engine engine(std::make_unique<ToyRunner>(40, 16), toy_config(), listener.sink());
  RequestOptions options = make_request(random_tokens(1, 30), 4);
  options.keep_sequence = true;
  const auto turn = listener.wait_for_end(engine.submit(options).value());
  WL_CHECK_EQ(engine.stats().num_live_sequences, 1);
  const auto too_long =
      engine.continue_sequence(turn.sequence, make_request(random_tokens(2, 606)));
  WL_CHECK(code_of(too_long) == ErrorCode::kContextTooLong);
  const auto next = engine.continue_sequence(turn.sequence, make_request(random_tokens(2, 5), 4));
  WL_CHECK(listener.wait_for_end(next.value()).finish == FinishReason::kLength);
  WL_CHECK(code_of(engine.continue_sequence(turn.sequence, make_request({1}))) ==
           ErrorCode::kSequenceReleased);
}

WL_TEST("engine thread: the queue is bounded, and close ends every open request") {
  Listener listener;
  auto runner = std::make_unique<GatedRunner>(40, 16);
  GatedRunner& gate = *runner;
  auto config = toy_config();
  config.max_queued = 2;
  Engine engine(std::move(runner), config, listener.sink());
  const RequestId running = engine.submit(make_request(random_tokens(1, 20), 1000)).value();
  gate.wait_until_entered();  // the engine thread is in a step and drains nothing
  const RequestId queued = engine.submit(make_request(random_tokens(2, 20))).value();
  // `running` counts until the step that admits it has been told: one more place is taken.
  WL_CHECK(code_of(engine.submit(make_request(random_tokens(3, 20)))) == ErrorCode::kQueueFull);
  WL_CHECK_EQ(engine.stats().num_waiting, 2);

  // The gate opens only once the engine is known to be closing: the open requests cannot end first.
  std::thread closer([&] { engine.close(); });
  while (code_of(engine.submit(make_request({1}))) != ErrorCode::kEngineClosed) {
    std::this_thread::yield();
  }
  gate.open();
  engine.close();
  closer.join();
  for (const RequestId request : {running, queued}) {
    const auto heard = listener.wait_for_end(request);
    WL_CHECK(heard.finish == FinishReason::kFailed);
    WL_CHECK(heard.error == ErrorCode::kEngineClosed);
    WL_CHECK_EQ(heard.num_finishes, 1);
  }
  WL_CHECK(code_of(engine.submit(make_request({1}))) == ErrorCode::kEngineClosed);
  engine.abort(running);
  engine.release(1);
  engine.close();
}

WL_TEST("engine thread: a failing runner fails open requests, later ones are refused") {
  Listener listener;
  auto runner = std::make_unique<ToyRunner>(40, 16);
  runner->fails_at_step = 3;
  Engine engine(std::move(runner), toy_config(), listener.sink());
  const RequestId request = engine.submit(make_request(random_tokens(1, 20), 100)).value();
  const auto heard = listener.wait_for_end(request);
  WL_CHECK(heard.finish == FinishReason::kFailed);
  WL_CHECK(heard.error == ErrorCode::kEngineFailed);
  WL_CHECK_EQ(heard.tokens.size(), size_t{2});
  const auto later = engine.submit(make_request({1}));
  WL_CHECK(code_of(later) == ErrorCode::kEngineFailed);
  WL_CHECK_EQ(later.error().message, "the toy device broke");
}

WL_TEST("engine thread: a runner that throws fails the engine, not the process") {
  Listener listener;
  Engine engine(std::make_unique<ThrowingRunner>(40, 16), toy_config(), listener.sink());
  const auto heard = listener.wait_for_end(engine.submit(make_request({1, 2, 3})).value());
  WL_CHECK(heard.error == ErrorCode::kEngineFailed);
}

WL_TEST("engine thread: an abort reaches a running request") {
  Listener listener;
  Engine engine(std::make_unique<ToyRunner>(40, 16), toy_config(), listener.sink());
  const RequestId request = engine.submit(make_request(random_tokens(1, 20), 600)).value();
  listener.wait_for_tokens(request, 1);
  engine.abort(request);
  const auto heard = listener.wait_for_end(request);
  WL_CHECK(heard.finish == FinishReason::kAborted || heard.tokens.size() == 600);
}

WL_TEST("engine thread: abort and close find no mask half done") {
  for (const bool closes : {true, false}) {
    Listener listener;
    auto runner = std::make_unique<GatedRunner>(40, 16);
    GatedRunner& gate = *runner;
    Engine engine(std::move(runner), toy_config(), listener.sink());
    RequestOptions options = make_request(random_tokens(1, 20), 600);
    options.grammar = toy_object();
    options.stop_token_ids = {kToyEnd};
    options.jump_forward = false;  // so that each step has a mask
    std::vector<RequestId> requests;
    for (int i = 0; i < 4; ++i) requests.push_back(engine.submit(options).value());
    gate.wait_until_entered();  // the masks of the step are computed or being computed
    for (const RequestId request : requests) engine.abort(request);
    std::thread closer([&] {
      if (closes) engine.close();
    });
    gate.open();
    closer.join();
    for (const RequestId request : requests) {
      const auto heard = listener.wait_for_end(request);
      WL_CHECK(heard.finish == FinishReason::kAborted || heard.finish == FinishReason::kFailed);
      WL_CHECK_EQ(heard.num_finishes, 1);
    }
  }
}

WL_TEST("engine thread: a failing forward pass leaves no mask behind") {
  Listener listener;
  auto runner = std::make_unique<ToyRunner>(40, 16);
  runner->fails_at_step = 3;
  Engine engine(std::move(runner), toy_config(), listener.sink());
  RequestOptions options = make_request(random_tokens(1, 20), 100);
  options.grammar = toy_letters();
  const auto heard = listener.wait_for_end(engine.submit(options).value());
  WL_CHECK(heard.finish == FinishReason::kFailed);
  WL_CHECK(heard.error == ErrorCode::kEngineFailed);
}
