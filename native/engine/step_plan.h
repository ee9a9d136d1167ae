#pragma once
// What one step computes: plain values, decided by the scheduler, carried out by EngineCore.

#include <vector>

#include "engine/request.h"
#include "kv/kv_cache_manager.h"

namespace wl::engine {

/// The next num_tokens uncomputed tokens of a request's sequence.
struct ScheduledTokens {
  Request* request = nullptr;
  int num_tokens = 0;
  bool is_decode = false;  // feeds the token sampled last and those forced after it; else a prefill
  bool samples = false;    // reaches the end of the sequence: its last row of logits gives a token
};

struct StepPlan {
  std::vector<ScheduledTokens> scheduled;  // in order of admission
  std::vector<kv::BlockCopy> copies;       // before the forward pass, in this order
  std::vector<Request*> admitted;          // left the waiting queue for the first time
  std::vector<Request*> given_up;          // had ended; what they still computed is no longer kept
};

}  // namespace wl::engine
