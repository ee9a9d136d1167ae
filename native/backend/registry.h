#pragma once
// Makes backends by name. registry.cpp is the only file that names the implementations.

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"

namespace wl::backend {

enum class Activations {
  kWide,
  kInt8,
  kFloat
};  // kFloat: weights are dequantised to float32 at load

struct CpuOptions {
  std::string isa = "auto";  // auto | ref | avx2 | avx512
  int threads = 1;           // kernel threads, the engine's own included
  Activations activations = Activations::kWide;
};

/// Errors: ERR_INVALID_ARGUMENT (a level that this CPU or build lacks).
Result<std::unique_ptr<Backend>> open_cpu_backend(const CpuOptions& options);

struct CpuInfo {
  std::string name;
  std::vector<std::string> levels;  // slowest first
};
CpuInfo probe_cpu();

}  // namespace wl::backend
