#include "model_trial.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/open_engine.h"
#include "models/inspect.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace wl::fuzz {

namespace {

constexpr int64_t kKvBytes = 1 << 18;
constexpr std::array kKvTypes = {backend::KvDType::kF16, backend::KvDType::kQ8_0,
                                 backend::KvDType::kF32};
constexpr std::array<std::optional<DType>, 4> kQuantizations = {std::nullopt, DType::kQ8_0,
                                                                std::nullopt, DType::kQ4_K};
constexpr int kPromptTokens = 18;  // more than a KV block

[[noreturn]] void broken(const char* what, const std::string& message) {
  std::fprintf(stderr, "broken invariant in %s: %s\n", what, message.c_str());
  std::abort();
}

template <class T>
void check_error(const char* what, const Result<T>& result) {
  if (!result.ok() && result.error().code == ErrorCode::kInternal) {
    broken(what, result.error().message);
  }
}

/// Counts the requests that have ended.
class EndCounter {
 public:
  engine::StepSink sink() {
    return [this](const engine::StepEvents& step) {
      const std::lock_guard lock(mutex_);
      for (const auto& event : step.events) {
        if (event.finish == engine::FinishReason::kNone) continue;
        // Weights may well make logits that are not finite; anything else is our fault.
        if (event.finish == engine::FinishReason::kFailed && event.error == ErrorCode::kInternal) {
          broken("a step", "ERR_INTERNAL");
        }
        ++num_ended_;
      }
      changed_.notify_all();
    };
  }

  void wait_for(int num_requests) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return num_ended_ >= num_requests; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int num_ended_ = 0;
};

void generate(engine::Engine& engine, EndCounter& ends, int vocab) {
  engine::RequestOptions request;
  for (int i = 0; i < kPromptTokens; ++i) request.tokens.push_back(i * 7 % vocab);
  request.max_output_tokens = 2;
  request.logits = engine::LogitsMode::kSampled;
  const auto started = engine.submit(std::move(request));
  check_error("submit", started);  // the context may be too short for it
  if (started.ok()) ends.wait_for(1);
}

}  // namespace

void try_model(const std::string& path, size_t variant) {
  const auto inspection = models::inspect_model(path);
  check_error("inspect_model", inspection);
  engine::OpenOptions options;
  options.model_path = path;
  options.kv_memory_bytes = kKvBytes;
  options.kv_type = kKvTypes[variant % kKvTypes.size()];
  options.quantization = kQuantizations[variant % kQuantizations.size()];
  options.engine.max_batch_tokens = 32;
  options.engine.max_running = 2;
  engine::EngineInfo info;
  EndCounter ends;
  auto opened = engine::open_engine(options, ends.sink(), &info);
  check_error("open_engine", opened);
  if (!opened.ok()) return;
  if (!inspection.ok() || !inspection.value().refusals.empty()) {
    broken("inspect_model", "it refuses a model that opens");
  }
  generate(*opened.value(), ends, info.vocab);
  opened.value()->close();
}

MemoryFile::MemoryFile(std::span<const uint8_t> bytes) : descriptor_(::memfd_create("fuzz", 0)) {
  if (descriptor_ < 0) broken("memfd_create", std::strerror(errno));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (written <= 0) broken("write", std::strerror(errno));
    done += static_cast<size_t>(written);
  }
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

size_t mutate_head(uint8_t* data, size_t size, size_t max_size, unsigned seed, size_t head_bytes) {
  const bool is_anywhere = seed % 8 == 0 || size <= head_bytes;
  if (is_anywhere) return LLVMFuzzerMutate(data, size, max_size);
  const std::vector<uint8_t> tail(data + head_bytes, data + size);
  const size_t head = LLVMFuzzerMutate(data, head_bytes, max_size - tail.size());
  std::copy(tail.begin(), tail.end(), data + head);
  return head + tail.size();
}

}  // namespace wl::fuzz
