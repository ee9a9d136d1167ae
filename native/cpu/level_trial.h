#pragma once
// Tries one instruction-set level against another on the CPU at hand, for levels that are not the
// faster one on every CPU that has them.

#include "cpu/kernels.h"

namespace wl::cpu {

/// What came of it: whether the products had equal bits, and the time of each level's.
struct LevelTrial {
  bool is_equal = false;
  double base_seconds = 0, candidate_seconds = 0;

  /// Equal, and faster by more than clocks are off.
  bool is_better() const { return is_equal && candidate_seconds < 0.95 * base_seconds; }
};

/// Products of 64 tokens with a small random matrix of every quantised form for which the levels
/// have kernels of their own, with int8 and with wide activations; the times are those of the wide
/// ones, each the least of five. Takes some milliseconds of the calling thread. Throws
/// std::bad_alloc.
LevelTrial try_level(const KernelTable& base, const KernelTable& candidate);

}  // namespace wl::cpu
