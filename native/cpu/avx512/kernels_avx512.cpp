// The kernels of AVX-512 with VNNI.

#include "cpu/avx512/vec_avx512.h"
#include "cpu/simd/table.h"

namespace wl::cpu {

const KernelTable* avx512_kernels() {
  static const KernelTable kTable = simd::make_table<VecAvx512>("avx512");
  return &kTable;
}

}  // namespace wl::cpu
