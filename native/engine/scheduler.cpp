#include "engine/scheduler.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "base/result.h"

namespace wl::engine {
namespace {

// Fewer shared tokens are cheaper to compute twice than to wait for.
constexpr int kSharedPrefixTokens = 32;

// Together they take as much memory as 64 vocabularies of floats: 64 MiB where there are 256 Ki
// tokens.
constexpr int kMaxPromptRows = 64;

bool needs_prompt_rows(const Request& request) {
  return request.wants_prompt_logprobs() &&
         request.sequence->num_computed_tokens < request.num_prompt_tokens;
}

bool has_ended(const Request* request) { return request->held_token.has_value(); }

bool is_decode(const Request& request) {
  return request.sequence->num_uncomputed_tokens() <= request.num_last_appended;
}

/// Tokens whose KV may come from the cache, and one more: a row of logits is only computed.
int num_cacheable_tokens(const Request& request) {
  const int num_tokens = request.sequence->num_tokens();
  if (!request.wants_prompt_logprobs()) return num_tokens;
  return std::min(num_tokens, request.next_logits_position + 1);
}

kv::StepTokens step_tokens(const Sequence& sequence, int num_tokens) {
  const int num_computed = sequence.num_computed_tokens;
  return {num_computed, num_computed + num_tokens, sequence.num_tokens()};
}

}  // namespace

int Scheduler::num_preempted_waiting() const {
  return static_cast<int>(std::ranges::count_if(waiting_, &Request::is_admitted));
}

void Scheduler::enqueue(Request& request) {
  if (request.is_paused) {
    paused_.push_back(&request);
  } else {
    waiting_.push_back(&request);
  }
}

void Scheduler::put_last(Request& request) {
  std::erase(running_, &request);
  running_.push_back(&request);
}

void Scheduler::remove(Request& request) {
  std::erase(running_, &request);
  std::erase(waiting_, &request);
  std::erase(paused_, &request);
}

void Scheduler::pause(Request& request) {
  remove(request);
  request.num_computed_before_preemption =
      std::max(request.num_computed_before_preemption, request.sequence->num_computed_tokens);
  paused_.push_back(&request);
}

void Scheduler::resume(Request& request) {
  remove(request);
  waiting_.push_front(&request);
}

void Scheduler::clear() {
  running_.clear();
  waiting_.clear();
  paused_.clear();
}

StepPlan Scheduler::plan() {
  Step step;
  step.budget = config_.max_batch_tokens;
  step.prompt_rows = kMaxPromptRows;
  plan_running(step);
  // What was just preempted stands first in the queue: admitting now would thrash.
  if (!step.has_preempted) plan_admissions(step);
  if (step.plan.scheduled.empty() && step.plan.given_up.empty() && has_work()) {
    throw InternalError("scheduler: work is waiting and nothing can run");
  }
  return std::move(step.plan);
}

void Scheduler::plan_running(Step& step) {
  std::vector<int> shares(running_.size());  // of the budget, by place in running_
  const auto grant = [&](bool decodes, int max_tokens) {
    for (size_t i = 0; i < running_.size(); ++i) {
      const Request& request = *running_[i];
      if (is_decode(request) != decodes) continue;
      const int wanted = std::min(request.sequence->num_uncomputed_tokens(), max_tokens);
      const int num_more = std::min(wanted - shares[i], room(step, request));
      shares[i] += num_more;
      spend(step, request, num_more);
    }
  };
  // One token for each before any computes a run of forced ones: none is slower than without.
  grant(true, 1);
  grant(true, config_.max_prefill_chunk);
  grant(false, config_.max_prefill_chunk);
  // By index: preemption takes requests off the end while this walks.
  for (size_t i = 0; i < running_.size(); ++i) {
    Request& request = *running_[i];
    if (shares[i] > 0 && reserve(step, request, shares[i])) schedule(step, request, shares[i]);
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
    running_.insert(std::ranges::find_if(running_, has_ended), &request);
  }
}

int Scheduler::chunk_size(const Step& step, const Request& request) const {
  return std::min(
      {request.sequence->num_uncomputed_tokens(), room(step, request), config_.max_prefill_chunk});
}

/// Tokens that the step can still take of the request.
int Scheduler::room(const Step& step, const Request& request) {
  return needs_prompt_rows(request) ? std::min(step.budget, step.prompt_rows) : step.budget;
}

void Scheduler::spend(Step& step, const Request& request, int num_tokens) {
  step.budget -= num_tokens;
  if (needs_prompt_rows(request)) step.prompt_rows -= num_tokens;
}

/// The blocks of these tokens are reserved.
void Scheduler::schedule(Step& step, Request& request, int num_tokens) {
  const bool is_last = num_tokens == request.sequence->num_uncomputed_tokens();
  step.plan.scheduled.push_back(
      {&request, num_tokens, is_decode(request), is_last && !request.options.prefill_only});
}

/// False when the request itself had to be preempted.
bool Scheduler::reserve(Step& step, Request& request, int num_tokens) {
  Sequence& sequence = *request.sequence;
  for (;;) {
    const auto allocation = kv_.allocate_slots(sequence.blocks, step_tokens(sequence, num_tokens));
    if (allocation) {
      std::ranges::copy(allocation->copies, std::back_inserter(step.plan.copies));
      return true;
    }
    if (reclaim_idle_blocks(request)) continue;
    Request& victim = *running_.back();
    preempt(step, victim);
    step.has_preempted = true;
    if (&victim == &request) return false;
  }
}

bool Scheduler::try_admit(Step& step, Request& request) {
  if (room(step, request) == 0) return false;
  Sequence& sequence = *request.sequence;
  bool is_continued = !sequence.blocks.is_empty();
  const int num_hit =
      kv_.lookup(sequence.blocks, num_cacheable_tokens(request), sequence.num_computed_tokens);
  // More than a continuation's own: another sequence went on from there, as when a client that
  // reconnects warms up its instructions and then sends its history.
  if (num_hit > sequence.num_computed_tokens) {
    kv_.free(sequence.blocks);
    kv_.attach(sequence.blocks, num_hit);
    sequence.num_computed_tokens = num_hit;
    is_continued = false;
  }
  const int num_tokens = chunk_size(step, request);
  if (!make_room(request, num_tokens)) {
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
  kv_.mark_branch_point(sequence.blocks, request.num_prompt_tokens);
  reserve(step, request, num_tokens);
  schedule(step, request, num_tokens);
  spend(step, request, num_tokens);
  return true;
}

/// Frees idle blocks until a waiting request can run. False when that is not enough.
bool Scheduler::make_room(const Request& request, int num_tokens) {
  const Sequence& sequence = *request.sequence;
  // Each running request may need a block before this one is done: without spare blocks it would
  // be preempted again at once.
  const int num_spare = num_running();
  while (!kv_.has_room(sequence.blocks, step_tokens(sequence, num_tokens), num_spare)) {
    if (!reclaim_idle_blocks(request)) return false;
  }
  return true;
}

bool Scheduler::shares_prefix_being_computed(const Request& request) const {
  const kv::SequenceBlocks& blocks = request.sequence->blocks;
  if (!blocks.is_empty() || request.wants_prompt_logprobs()) return false;
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
  const auto gives_up = [&](Request* request) {
    Sequence& sequence = *request->sequence;
    if (request == &beneficiary || sequence.blocks.is_empty()) return false;
    kv_.free(sequence.blocks);
    sequence.num_computed_tokens = 0;
    return true;
  };
  return std::ranges::any_of(std::views::reverse(waiting_), gives_up) ||
         std::ranges::any_of(std::views::reverse(paused_), gives_up);
}

void Scheduler::preempt(Step& step, Request& request) {
  Sequence& sequence = *request.sequence;
  request.num_computed_before_preemption = sequence.num_computed_tokens;
  kv_.free(sequence.blocks);
  sequence.num_computed_tokens = 0;
  std::erase(running_, &request);
  if (has_ended(&request)) return step.plan.given_up.push_back(&request);
  waiting_.push_front(&request);
  ++num_preemptions_;
}

}  // namespace wl::engine
