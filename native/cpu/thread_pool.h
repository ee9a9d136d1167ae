#pragma once
// The process-wide pool of kernel threads, shared by all engines so that engines times threads
// never exceeds the cores. One job runs at a time; an engine that finds the pool busy runs its job
// on its own thread. Which thread runs which task never changes a result. Workers spin briefly
// after a job, since the next op of the layer follows within microseconds, then sleep until one
// comes.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace wl::cpu {

class ThreadPool {
 public:
  /// The pool of the process; never destroyed, so that a late engine thread cannot outlive it.
  static ThreadPool& instance();

  /// Makes sure that jobs of `num_threads` (the caller included) can run.
  void reserve(int num_threads);

  /// Runs body(task, worker) for every task in [0, num_tasks) on at most num_threads threads, the
  /// caller among them, and returns when all are done. worker is in [0, num_threads) and unique
  /// among the threads of the job. Bodies must not throw.
  template <class Body>
  void run(int num_tasks, int num_threads, const Body& body) {
    run_job(
        num_tasks, num_threads,
        [](const void* context, int task, int worker) {
          (*static_cast<const Body*>(context))(task, worker);
        },
        &body);
  }

 private:
  using TaskFunction = void (*)(const void* context, int task, int worker);

  ThreadPool() = default;
  void run_job(int num_tasks, int num_threads, TaskFunction function, const void* context);
  void worker_loop(int worker, uint32_t seen);
  /// Takes and runs tasks of the current job until there is none left for this worker.
  void run_tasks(int worker);
  void wait_for_epoch(uint32_t seen);

  std::mutex job_mutex_;  // held by the engine whose job runs, and while threads are added
  std::vector<std::thread> threads_;
  TaskFunction function_ = nullptr;
  const void* context_ = nullptr;
  // Everything a worker must know to take a task, in one word (Ticket in the .cpp): a worker that
  // wakes late finds the job that runs now, or none, and nobody waits for it.
  std::atomic<uint64_t> ticket_{0};
  std::atomic<uint32_t> epoch_{0};  // changes when a job starts; sleepers wait on it
  std::atomic<int> num_done_{0};    // finished tasks of the running job
};

}  // namespace wl::cpu
