#include "engine/mask_worker.h"

#include <algorithm>
#include <utility>

namespace wl::engine {

MaskWorker::MaskWorker(int vocab)
    : vocab_(static_cast<size_t>(vocab)), thread_([this] { run(); }) {}

MaskWorker::~MaskWorker() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

MaskWorker::Batch MaskWorker::start(std::vector<const OutputGrammar*> grammars) {
  if (!grammars.empty()) {
    {
      const std::lock_guard lock(mutex_);
      grammars_ = std::move(grammars);
      while (masks_.size() < grammars_.size()) masks_.emplace_back(vocab_);
      num_done_ = 0;
      failure_ = nullptr;
    }
    wake_.notify_one();
  }
  return Batch(*this);
}

MaskWorker::Batch::~Batch() {
  std::unique_lock lock(worker_.mutex_);
  worker_.done_.wait(lock, [this] { return worker_.num_done_ == worker_.grammars_.size(); });
}

const sampling::TokenMask& MaskWorker::Batch::mask_of(const OutputGrammar& grammar) {
  const auto it = std::ranges::find(worker_.grammars_, &grammar);
  const size_t idx = static_cast<size_t>(it - worker_.grammars_.begin());
  std::unique_lock lock(worker_.mutex_);
  if (worker_.num_done_ <= idx) {
    ++worker_.num_waits_;
    worker_.done_.wait(lock, [&] { return worker_.num_done_ > idx; });
  }
  if (worker_.failure_ != nullptr) std::rethrow_exception(worker_.failure_);
  return worker_.masks_[idx];
}

void MaskWorker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return is_closed_ || num_done_ < grammars_.size(); });
    if (is_closed_) return;
    const size_t idx = num_done_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      grammars_[idx]->fill_mask(masks_[idx]);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    num_done_ = failure == nullptr ? idx + 1 : grammars_.size();
    done_.notify_one();
  }
}

}  // namespace wl::engine
