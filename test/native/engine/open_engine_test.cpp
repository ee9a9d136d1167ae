// What opening an engine says when the system gives no more memory: tried with a real limit.

#include "engine/open_engine.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

#include "check.h"
#include "golden_file.h"

// A sanitizer's own memory counts too, and it aborts where it gets none.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

using wl::ErrorCode;
using wl::Result;
using wl::engine::Engine;

constexpr int64_t kMiB = int64_t{1} << 20;

/// Bytes of private writable memory of this process: what RLIMIT_DATA bounds.
int64_t data_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmData:") {
  }
  int64_t kib = 0;
  status >> kib;
  return kib << 10;
}

/// While it lives, the process gets that much more memory.
class MemoryLimit {
 public:
  explicit MemoryLimit(int64_t more_bytes) {
    getrlimit(RLIMIT_DATA, &before_);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(data_bytes() + more_bytes);
    setrlimit(RLIMIT_DATA, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_DATA, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

Result<std::unique_ptr<Engine>> open(int64_t kv_memory_bytes) {
  wl::engine::OpenOptions options;
  options.model_path = wl::test::golden_path("models/llama-spm.F16.gguf");
  options.kv_memory_bytes = kv_memory_bytes;
  options.engine.max_running = 4;
  wl::engine::EngineInfo info;
  return wl::engine::open_engine(options, [](wl::engine::StepEvents) {}, &info);
}

}  // namespace

WL_TEST("open engine: each amount of memory opens it or is ERR_MODEL_MEMORY, weights before KV") {
  std::string refusals;
  int64_t enough = 0;
  for (int64_t more = kMiB; enough == 0 && more < 256 * kMiB; more += kMiB / 2) {
    const MemoryLimit limit(more);
    const auto opened = open(16 * kMiB);
    if (opened.ok()) {
      enough = more;
      continue;
    }
    WL_CHECK_EQ(static_cast<int>(opened.error().code), static_cast<int>(ErrorCode::kModelMemory));
    refusals += opened.error().message + "\n";
  }
  WL_CHECK(enough > 16 * kMiB);
  const size_t weights = refusals.find("of weights"), kv = refusals.find("for a KV cache of");
  WL_CHECK(weights != std::string::npos && kv != std::string::npos && weights < kv);
}

#endif
