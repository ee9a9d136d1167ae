#pragma once
// Computes token masks on a thread of its own while the engine thread runs the forward pass. A
// grammar's state is known as soon as its last token is, its mask matters only at the next
// sampling. The engine thread starts one batch a step and waits for a mask when it samples.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/output_grammar.h"
#include "sampling/token_mask.h"

namespace wl::engine {

class MaskWorker {
 public:
  explicit MaskWorker(int vocab);
  ~MaskWorker();
  MaskWorker(const MaskWorker&) = delete;
  MaskWorker& operator=(const MaskWorker&) = delete;

  /// The masks of one step. Waits for all of them when it dies, so that no grammar is read later.
  class Batch {
   public:
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    /// The mask of a grammar of this batch; waits for it. Throws what its computation threw.
    const sampling::TokenMask& mask_of(const OutputGrammar& grammar);

   private:
    friend class MaskWorker;
    explicit Batch(MaskWorker& worker) : worker_(worker) {}
    MaskWorker& worker_;
  };

  /// The grammars stay unchanged while the batch lives; at most one batch does.
  Batch start(std::vector<const OutputGrammar*> grammars);

  /// How often a mask was not ready when it was asked for.
  uint64_t num_waits() const { return num_waits_; }

 private:
  void run();

  const size_t vocab_;
  uint64_t num_waits_ = 0;  // engine thread

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<const OutputGrammar*> grammars_;  // of the batch; written only while none is open
  std::vector<sampling::TokenMask> masks_;      // by index in grammars_; at least as many
  size_t num_done_ = 0;
  std::exception_ptr failure_;
  bool is_closed_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace wl::engine
