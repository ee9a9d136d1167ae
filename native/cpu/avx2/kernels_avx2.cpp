// The kernels of AVX2 + FMA + F16C.

#include "cpu/avx2/vec_avx2.h"
#include "cpu/simd/table.h"

namespace wl::cpu {

const KernelTable* avx2_kernels() {
  static const KernelTable kTable = simd::make_table<VecAvx2>("avx2");
  return &kTable;
}

}  // namespace wl::cpu
