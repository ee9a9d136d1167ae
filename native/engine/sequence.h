#pragma once
// One token timeline and its share of the KV cache. It outlives its requests while it is live: a
// finished turn that a continuation or a fork can take up. Engine thread only.

#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "engine/request.h"
#include "kv/kv_cache_manager.h"

namespace wl::engine {

/// A fork that waits for its source; nullopt: of all its tokens.
struct PendingFork {
  SequenceId target = 0;
  std::optional<int> num_tokens;
};

struct Sequence {
  SequenceId id = 0;
  std::vector<int32_t> tokens;  // prompts and outputs of all turns
  int num_computed_tokens = 0;  // leading tokens whose KV is in `blocks`
  kv::SequenceBlocks blocks;

  Request* request = nullptr;         // the one that is waiting or running on it
  bool is_awaiting_fork = false;      // its source still runs
  bool is_release_requested = false;  // do not keep it once nothing is pending
  uint64_t live_stamp = 0;            // order of becoming live; meaningless while busy

  /// What waits for the running request to end, in order.
  std::deque<std::variant<Request*, PendingFork>> pending;

  int num_tokens() const { return static_cast<int>(tokens.size()); }
  int num_uncomputed_tokens() const { return num_tokens() - num_computed_tokens; }
  bool is_busy() const { return request != nullptr || is_awaiting_fork; }
};

}  // namespace wl::engine
