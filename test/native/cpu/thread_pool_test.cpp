#include "cpu/thread_pool.h"

#include <array>

#include "check.h"

namespace wl::cpu {
namespace {

WL_TEST("thread pool: every task runs once, whatever the number of threads and tasks") {
  ThreadPool& pool = ThreadPool::instance();
  pool.reserve(3);
  for (int round = 0; round < 2000; ++round) {
    const int num_tasks = round % 13;
    std::array<std::atomic<int>, 13> runs{};
    std::atomic<bool> is_worker_in_range{true};
    pool.run(num_tasks, 1 + round % 3, [&](int task, int worker) {
      runs[static_cast<size_t>(task)]++;
      if (worker < 0 || worker > round % 3) is_worker_in_range = false;
    });
    for (int task = 0; task < num_tasks; ++task) WL_CHECK_EQ(runs[static_cast<size_t>(task)], 1);
    WL_CHECK(is_worker_in_range);
  }
}

WL_TEST("thread pool: engines that run jobs at the same time all finish") {
  ThreadPool& pool = ThreadPool::instance();
  pool.reserve(2);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> engines;
  for (int e = 0; e < 3; ++e) {
    engines.emplace_back([&] {
      for (int job = 0; job < 500; ++job) pool.run(8, 2, [&](int task, int) { total += task; });
    });
  }
  for (std::thread& engine : engines) engine.join();
  WL_CHECK_EQ(total.load(), int64_t{3} * 500 * 28);
}

}  // namespace
}  // namespace wl::cpu
