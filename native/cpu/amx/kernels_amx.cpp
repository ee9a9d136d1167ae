// The kernels of AMX (tiles of int8) on top of those of AVX-512.

#include "cpu/avx512/vec_avx512.h"
// The vectors come before the tiles that use them.
#include "cpu/amx/linear_amx.h"

namespace wl::cpu {

const KernelTable* amx_kernels() {
  static const KernelTable kTable = amx::make_table<avx512_kernels>("amx");
  return &kTable;
}

}  // namespace wl::cpu
