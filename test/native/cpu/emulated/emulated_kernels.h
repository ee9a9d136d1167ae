#pragma once
// Kernels for CPUs that this one is not, see avx512_on_avx2.h and amx_tiles.h.

#include "cpu/kernels.h"

namespace wl::cpu {

/// The AVX-512 kernels on AVX2.
const KernelTable* emulated_avx512_kernels();

/// The AMX kernels on AVX2.
const KernelTable* emulated_amx_kernels();

}  // namespace wl::cpu
