#include "engine/scheduler.h"

#include <algorithm>
#include <ranges>

#include "base/result.h"

namespace wl::engine {
namespace {

// Fewer shared tokens are cheaper to compute twice than to wait for.
constexpr int kSharedPrefixTokens = 32;

bool is_decode(const Request& request) {
  return request.num_output_tokens > 0 && request.sequence->num_uncomputed_tokens() == 1;
}

}  // namespace

int Scheduler::num_preempted_waiting() const {
  return static_cast<int>(std::ranges::count_if(waiting_, &Request::is_admitted));
}

void Scheduler::remove(Request& request) {
  std::erase(running_, &request);
  std::erase(waiting_, &request);
}

void Scheduler::clear() {
  running_.clear();
  waiting_.clear();
}

StepPlan Scheduler::plan() {
  Step step;
  step.budget = config_.max_batch_tokens;
  plan_decodes(step);
  plan_prefills(step);
  // What was just preempted stands first in the queue: admitting now would thrash.
  if (!step.has_preempted) plan_admissions(step);
  if (step.plan.scheduled.empty() && has_work()) {
    throw InternalError("scheduler: work is waiting and nothing can run");
  }
  return std::move(step.plan);
}

void Scheduler::plan_decodes(Step& step) {
  // By index: preemption takes requests off the end while this walks.
  for (size_t i = 0; i < running_.size() && step.budget > 0; ++i) {
    Request& request = *running_[i];
    if (!is_decode(request) || !reserve_next_token(step, request)) continue;
    step.plan.scheduled.push_back({&request, 1, true, true});
    --step.budget;
  }
}

void Scheduler::plan_prefills(Step& step) {
  for (Request* request : running_) {
    if (step.budget == 0) return;
    if (!is_decode(*request)) schedule_prefill(step, *request);
  }
}

void Scheduler::plan_admissions(Step& step) {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (step.budget == 0 || num_running() >= config_.max_running) return;
    Request& request = **it;
    if (shares_prefix_being_computed(request)) {
      ++it;
      continue;
    }
    if (!try_admit(step, request)) return;
    it = waiting_.erase(it);
    running_.push_back(&request);
    schedule_prefill(step, request);
  }
}

void Scheduler::schedule_prefill(Step& step, Request& request) {
  const int num_uncomputed = request.sequence->num_uncomputed_tokens();
  const int num_tokens = std::min({num_uncomputed, step.budget, config_.max_prefill_chunk});
  const bool samples = num_tokens == num_uncomputed && !request.options.prefill_only;
  step.plan.scheduled.push_back({&request, num_tokens, false, samples});
  step.budget -= num_tokens;
}

/// False when the request itself had to be preempted.
bool Scheduler::reserve_next_token(Step& step, Request& request) {
  Sequence& sequence = *request.sequence;
  for (;;) {
    const auto allocation =
        kv_.allocate_slots(sequence.blocks, sequence.num_computed_tokens, sequence.num_tokens());
    if (allocation) {
      if (allocation->copy) step.plan.copies.push_back(*allocation->copy);
      return true;
    }
    if (reclaim_idle_blocks(request)) continue;
    Request& victim = *running_.back();
    preempt(victim);
    step.has_preempted = true;
    if (&victim == &request) return false;
  }
}

bool Scheduler::try_admit(Step& step, Request& request) {
  Sequence& sequence = *request.sequence;
  bool is_continued = !sequence.blocks.table.empty();
  const kv::PrefixHit hit =
      kv_.lookup(sequence.blocks, sequence.num_tokens(), sequence.num_computed_tokens);
  // More than a continuation's own: another sequence went on from there, as when a client that
  // reconnects warms up its instructions and then sends its history.
  if (hit.num_tokens > sequence.num_computed_tokens) {
    kv_.free(sequence.blocks);
    kv_.attach(sequence.blocks, hit);
    sequence.num_computed_tokens = hit.num_tokens;
    is_continued = false;
  }
  // Each running request may need a block before this one is done: without spare blocks it would
  // be preempted again at once.
  const int num_spare = num_running();
  for (;;) {
    const auto allocation = kv_.allocate_slots(sequence.blocks, sequence.num_computed_tokens,
                                               sequence.num_tokens(), num_spare);
    if (allocation) {
      if (allocation->copy) step.plan.copies.push_back(*allocation->copy);
      break;
    }
    if (reclaim_idle_blocks(request)) continue;
    if (!is_continued) {
      kv_.free(sequence.blocks);
      sequence.num_computed_tokens = 0;
    }
    return false;
  }
  if (request.is_admitted) {
    request.num_preempted_tokens +=
        std::max(0, request.num_computed_before_preemption - sequence.num_computed_tokens);
  } else {
    request.is_admitted = true;
    request.num_cached_tokens = sequence.num_computed_tokens;
    request.is_live_hit = is_continued && request.num_cached_tokens > 0;
    step.plan.admitted.push_back(&request);
  }
  return true;
}

bool Scheduler::shares_prefix_being_computed(const Request& request) const {
  const kv::SequenceBlocks& blocks = request.sequence->blocks;
  if (!blocks.table.empty()) return false;
  const size_t num_shared_blocks =
      static_cast<size_t>((kSharedPrefixTokens + kv_.block_size() - 1) / kv_.block_size());
  const size_t num_hittable =
      static_cast<size_t>((request.sequence->num_tokens() - 1) / kv_.block_size());
  return std::ranges::any_of(running_, [&](const Request* other) {
    const kv::SequenceBlocks& theirs = other->sequence->blocks;
    // The hash of the last of these blocks vouches for all before it.
    const size_t last_idx = static_cast<size_t>(theirs.num_committed) + num_shared_blocks - 1;
    return last_idx < num_hittable && last_idx < blocks.hashes.size() &&
           last_idx < theirs.hashes.size() && blocks.hashes[last_idx] == theirs.hashes[last_idx];
  });
}

/// Frees blocks that no running request holds, a little at a time. False when there are none.
bool Scheduler::reclaim_idle_blocks(const Request& beneficiary) {
  if (sequences_.release_oldest_live()) return true;
  for (Request* request : std::views::reverse(waiting_)) {
    Sequence& sequence = *request->sequence;
    if (request == &beneficiary || sequence.blocks.table.empty()) continue;
    kv_.free(sequence.blocks);
    sequence.num_computed_tokens = 0;
    return true;
  }
  return false;
}

void Scheduler::preempt(Request& request) {
  Sequence& sequence = *request.sequence;
  request.num_computed_before_preemption = sequence.num_computed_tokens;
  kv_.free(sequence.blocks);
  sequence.num_computed_tokens = 0;
  std::erase(running_, &request);
  waiting_.push_front(&request);
  ++num_preemptions_;
}

}  // namespace wl::engine
