#pragma once
// The CPU as a Backend: kernels of one instruction set, run over the process's thread pool.

#include "backend/backend.h"
#include "cpu/cpu_ops.h"

namespace wl::cpu {

class CpuBackend : public backend::Backend {
 public:
  /// `dequantize`: every weight is kept as float32, so that activations stay float as well.
  CpuBackend(const KernelTable& kernels, int threads, backend::ActivationWidth width,
             bool dequantize)
      : ops_(kernels, threads, width), threads_(threads), dequantize_(dequantize) {}

  backend::Ops& ops() override { return ops_; }
  std::optional<backend::WeightForm> form_for(DType type) const override;
  void pack(const backend::WeightSource& source, backend::WeightForm form,
            uint8_t* panels) override;

 private:
  CpuOps ops_;
  int threads_;
  bool dequantize_;
};

}  // namespace wl::cpu
