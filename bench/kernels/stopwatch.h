#pragma once
// Times a piece of work on the calling thread, in CPU time of that thread: a core taken away by
// another process does not count, and shows as wall time beside it.

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

namespace wl::bench {

/// Seconds of one run of the work, for each sample.
struct Timing {
  std::vector<double> seconds;
  bool is_disturbed = false;  // the thread had less than 0.9 of a core
};

inline double seconds_of(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Runs `work` once to warm up, then takes `num_samples` samples of at least `sample_seconds`.
template <class Work>
Timing time_work(const Work& work, int num_samples = 7, double sample_seconds = 2e-3) {
  const auto cpu_seconds = [] { return seconds_of(CLOCK_THREAD_CPUTIME_ID); };
  const double warm_up = cpu_seconds();
  work();
  const double once = std::max(cpu_seconds() - warm_up, 1e-8);
  const auto runs = std::max<int64_t>(1, static_cast<int64_t>(sample_seconds / once));
  Timing timing;
  double cpu = 0;
  const double wall_start = seconds_of(CLOCK_MONOTONIC);
  for (int s = 0; s < num_samples; ++s) {
    const double start = cpu_seconds();
    for (int64_t r = 0; r < runs; ++r) work();
    const double spent = cpu_seconds() - start;
    cpu += spent;
    timing.seconds.push_back(spent / static_cast<double>(runs));
  }
  timing.is_disturbed = cpu < 0.9 * (seconds_of(CLOCK_MONOTONIC) - wall_start);
  return timing;
}

}  // namespace wl::bench
