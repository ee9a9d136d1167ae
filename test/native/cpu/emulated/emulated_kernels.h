#pragma once
// Kernels for CPUs that this one is not, see avx512_on_avx2.h.

#include "cpu/kernels.h"

namespace wl::cpu {

/// The AVX-512 kernels on AVX2.
const KernelTable* emulated_avx512_kernels();

}  // namespace wl::cpu
