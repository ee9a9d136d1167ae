#pragma once
// Continuous batching with chunked prefill: decides what the next step computes and which blocks
// it uses. Pure bookkeeping: no model, no clock, no threads.
//
// - Decodes first, then chunks of running prompts, then new requests (first come, first served),
//   all within one token budget.
// - Admission reserves the full-attention blocks of the whole prompt, so a prefill never runs out
//   of them half-way. Blocks of sliding windows are taken a chunk at a time and given back behind
//   it; a request is admitted when those of its window and a chunk are free.
// - Blocks are taken in order of admission and, when they run out, from the request that was
//   admitted last: the oldest running request always goes on.
// - When blocks are short, live sequences give theirs up (oldest first), then continuations that
//   still wait; only then is a running request preempted, the last admitted first. It keeps its
//   emitted tokens, goes to the front of the queue and is recomputed. A request that has ended and
//   still computes the KV of its last tokens gives way before all of them, and is dropped.
// - A paused request holds no slot. Its blocks are given up like those of continuations that wait;
//   it goes on at the front of the queue.
// - A waiting request that shares at least kSharedPrefixTokens tokens with a prompt that is being
//   computed waits for those blocks, so that a shared prefix is computed once.

#include <deque>
#include <vector>

#include "engine/sequence_table.h"
#include "engine/step_plan.h"
#include "kv/kv_cache_manager.h"

namespace wl::engine {

struct SchedulerConfig {
  int max_batch_tokens = 0;
  int max_running = 0;
  int max_prefill_chunk = 0;  // tokens of one prompt in one step
};

class Scheduler {
 public:
  Scheduler(const SchedulerConfig& config, kv::KvCacheManager& kv, SequenceTable& sequences)
      : config_(config), kv_(kv), sequences_(sequences) {}

  bool has_work() const { return !running_.empty() || !waiting_.empty(); }
  int num_running() const { return static_cast<int>(running_.size()); }
  /// Requests that ran and wait again.
  int num_preempted_waiting() const;
  uint64_t num_preemptions() const { return num_preemptions_; }

  /// Puts a request whose prompt is in its sequence at the end of the queue.
  void enqueue(Request& request);
  /// A running request has ended and only computes what it left: it is the first to give way now.
  void put_last(Request& request);
  /// Takes a waiting, running or paused request out; its blocks stay with the sequence.
  void remove(Request& request);
  /// A request that was enqueued is set aside until `resume`.
  void pause(Request& request);
  void resume(Request& request);
  /// Plans one step: never empty while there is work. Block tables already have room for it.
  StepPlan plan();
  /// Forgets all requests.
  void clear();

 private:
  struct Step {
    StepPlan plan;
    int budget = 0;       // tokens left
    int prompt_rows = 0;  // rows of logits left for prompts whose log probabilities are wanted
    bool has_preempted = false;
  };
  void plan_running(Step& step);
  void plan_admissions(Step& step);
  int chunk_size(const Step& step, const Request& request) const;
  static int room(const Step& step, const Request& request);
  static void spend(Step& step, const Request& request, int num_tokens);
  void schedule(Step& step, Request& request, int num_tokens);
  bool reserve(Step& step, Request& request, int num_tokens);
  bool try_admit(Step& step, Request& request);
  bool make_room(const Request& request, int num_tokens);
  bool shares_prefix_being_computed(const Request& request) const;
  bool reclaim_idle_blocks(const Request& beneficiary);
  void preempt(Step& step, Request& request);

  const SchedulerConfig config_;
  kv::KvCacheManager& kv_;
  SequenceTable& sequences_;
  std::deque<Request*> waiting_;
  std::vector<Request*> running_;  // in order of admission, those that have ended behind all others
  std::vector<Request*> paused_;
  uint64_t num_preemptions_ = 0;
};

}  // namespace wl::engine
