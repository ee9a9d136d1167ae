#pragma once
// From a path and options to a running engine: opens the checkpoint, packs (or shares) weights,
// sizes the KV pool, starts the engine thread. The one place where loader, models, cpu and engine
// meet.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/kv_cache.h"
#include "backend/registry.h"
#include "base/dtype.h"
#include "engine/engine.h"

namespace wl::engine {

struct OpenOptions {
  std::string model_path;
  int threads = 1;
  std::string isa = "auto";  // auto | ref | avx2 | avx512
  backend::Activations activations = backend::Activations::kWide;
  std::optional<DType> quantization;  // of a float model's matrices, at load
  backend::KvDType kv_type = backend::KvDType::kF16;
  int64_t kv_memory_bytes = int64_t{1} << 30;
  int max_context_tokens = 0;  // 0 = the model's
  EngineConfig engine;         // max_context_tokens and fingerprint are filled in
};

struct EngineInfo {
  std::string arch, isa;
  int num_layers = 0, hidden = 0, vocab = 0, context = 0, num_kv_blocks = 0, threads = 0;
  int64_t weight_bytes = 0, kv_bytes = 0;
};

/// Errors: ERR_MODEL_*, ERR_INVALID_ARGUMENT (an ISA level this CPU lacks, no room for one
/// block...).
Result<std::unique_ptr<Engine>> open_engine(const OpenOptions& options, StepSink sink,
                                            EngineInfo* info);

/// The least kv_memory_bytes in which a sequence of max_context_tokens fits. Reads no weights, and
/// no options beside model_path, max_context_tokens, kv_type and engine.max_batch_tokens. Errors:
/// ERR_MODEL_*, ERR_INVALID_ARGUMENT for more tokens than the model takes.
Result<int64_t> min_kv_bytes(const OpenOptions& options);

}  // namespace wl::engine
