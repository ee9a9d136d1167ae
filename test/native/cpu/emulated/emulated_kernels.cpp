#include "cpu/emulated/emulated_kernels.h"

#include "cpu/emulated/avx512_on_avx2.h"
// The kernels come after the intrinsics that they are to use.
#include "cpu/avx512/vec_avx512.h"
#include "cpu/simd/table.h"

namespace wl::cpu {

const KernelTable* emulated_avx512_kernels() {
  static const KernelTable kTable = simd::make_table<VecAvx512>("avx512 emulated");
  return &kTable;
}

}  // namespace wl::cpu
