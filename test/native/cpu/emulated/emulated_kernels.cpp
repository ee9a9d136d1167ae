#include "cpu/emulated/emulated_kernels.h"

#include "cpu/emulated/amx_tiles.h"
#include "cpu/emulated/avx512_on_avx2.h"
// The kernels come after the intrinsics that they are to use.
#include "cpu/avx512/vec_avx512.h"
#include "cpu/simd/table.h"
// Tiles come after the vectors.
#include "cpu/amx/linear_amx.h"

namespace wl::cpu {

const KernelTable* emulated_avx512_kernels() {
  static const KernelTable kTable = simd::make_table<VecAvx512>("avx512 emulated");
  return &kTable;
}

const KernelTable* emulated_amx_kernels() {
  static const KernelTable kTable = amx::make_table<emulated_avx512_kernels>("amx emulated");
  return &kTable;
}

}  // namespace wl::cpu
