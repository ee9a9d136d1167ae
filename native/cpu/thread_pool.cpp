#include "cpu/thread_pool.h"

#include <algorithm>

namespace wl::cpu {

namespace {

// About 20 us: longer than the gap between two ops of a layer, shorter than a scheduler's time
// slice, so a worker that lost its core to another process is not waited for by a spinning one for
// long.
constexpr int kSpinRounds = 4000;

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// A job as a worker sees it: which workers may help, how many tasks it has, which is next.
struct Ticket {
  uint64_t word;
  static constexpr int kMaxTasks = 1 << 20;
  static Ticket make(uint32_t epoch, int helpers, int num_tasks) {
    return {static_cast<uint64_t>(epoch & 0xffff) << 48 | static_cast<uint64_t>(helpers) << 40 |
            static_cast<uint64_t>(num_tasks) << 20};
  }
  int helpers() const { return static_cast<int>(word >> 40 & 0xff); }
  int num_tasks() const { return static_cast<int>(word >> 20 & 0xfffff); }
  int next() const { return static_cast<int>(word & 0xfffff); }
};

}  // namespace

ThreadPool& ThreadPool::instance() {
  static ThreadPool* pool = new ThreadPool;
  return *pool;
}

void ThreadPool::reserve(int num_threads) {
  const std::lock_guard<std::mutex> lock(job_mutex_);
  const uint32_t seen = epoch_.load();
  while (static_cast<int>(threads_.size()) < std::min(num_threads, 256) - 1) {
    const int worker = static_cast<int>(threads_.size()) + 1;
    threads_.emplace_back([this, worker, seen] { worker_loop(worker, seen); });
    threads_.back().detach();
  }
}

void ThreadPool::run_job(int num_tasks, int num_threads, TaskFunction function,
                         const void* context) {
  std::unique_lock<std::mutex> lock(job_mutex_, std::defer_lock);
  const bool is_shared = num_threads > 1 && num_tasks > 1 && num_tasks < Ticket::kMaxTasks &&
                         lock.try_lock() && !threads_.empty();
  if (!is_shared) {
    for (int task = 0; task < num_tasks; ++task) function(context, task, 0);
    return;
  }
  const int helpers = std::min(num_threads - 1, static_cast<int>(threads_.size()));
  function_ = function;
  context_ = context;
  num_done_.store(0, std::memory_order_relaxed);
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed) + 1;
  ticket_.store(Ticket::make(epoch, helpers, num_tasks).word, std::memory_order_release);
  epoch_.store(epoch, std::memory_order_release);
  epoch_.notify_all();
  run_tasks(0);
  for (int round = 0; num_done_.load(std::memory_order_acquire) != num_tasks; ++round) {
    if (round < kSpinRounds) {
      pause_cpu();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::run_tasks(int worker) {
  uint64_t word = ticket_.load(std::memory_order_acquire);
  for (;;) {
    const Ticket ticket{word};
    if (ticket.next() >= ticket.num_tasks() || worker > ticket.helpers()) return;
    // On success the job cannot end before this task is done, so function_ and context_ are its
    // own.
    if (!ticket_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      continue;
    }
    function_(context_, ticket.next(), worker);
    num_done_.fetch_add(1, std::memory_order_release);
    word = ticket_.load(std::memory_order_acquire);
  }
}

void ThreadPool::wait_for_epoch(uint32_t seen) {
  for (int round = 0; round < kSpinRounds; ++round) {
    if (epoch_.load(std::memory_order_acquire) != seen) return;
    pause_cpu();
  }
  epoch_.wait(seen, std::memory_order_acquire);
}

void ThreadPool::worker_loop(int worker, uint32_t seen) {
  for (;;) {
    wait_for_epoch(seen);
    seen = epoch_.load(std::memory_order_acquire);
    run_tasks(worker);
  }
}

}  // namespace wl::cpu
