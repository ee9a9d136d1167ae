// Scalar loops of the baseline CPU, the measure of the scalar reference. Compiled without automatic
// vectorisation; a multiply-add is two instructions.

#include <cstring>

#include "peak_loops.h"

namespace wl::bench {
namespace {

struct Scalar {
  static constexpr size_t kBytes = 8;
  static constexpr int kFloats = 1, kInt16Macs = 1, kInt16Chains = 12;
  using F = float;
  using I = int64_t;
  static F set1(float x) { return x; }
  static F fma(F x, F y, F z) { return x * y + z; }
  static float first(F x) { return x; }
  static I iset1(int x) { return x; }
  static I iadd(I x, I y) { return x + y; }
  static I dot16(I acc, I x, I y) { return acc + static_cast<int16_t>(x) * y; }
  static I iload(const uint8_t* p) {
    I value;
    std::memcpy(&value, p, sizeof(value));
    return value;
  }
  static int64_t ifirst(I x) { return x; }
};

}  // namespace

PeakLoops baseline_peak_loops() { return make_peak_loops<Scalar>(); }

}  // namespace wl::bench
