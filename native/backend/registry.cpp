#include "backend/registry.h"

#include "cpu/cpu_backend.h"
#include "cpu/dispatch.h"

namespace wl::backend {

Result<std::unique_ptr<Backend>> open_cpu_backend(const CpuOptions& options) {
  auto kernels = cpu::kernels_for(options.isa);
  if (!kernels.ok()) return kernels.error();
  const ActivationWidth width =
      options.activations == Activations::kInt8 ? ActivationWidth::kInt8 : ActivationWidth::kWide;
  const bool dequantize = options.activations == Activations::kFloat;
  return std::unique_ptr<Backend>(
      new cpu::CpuBackend(*kernels.value(), options.threads, width, dequantize));
}

CpuInfo probe_cpu() { return {cpu::cpu_name(), cpu::available_levels()}; }

}  // namespace wl::backend
