#if defined(WL_HAVE_AVX512)

#include <immintrin.h>

#include "peak_loops.h"

namespace wl::bench {
namespace {

struct Avx512 {
  static constexpr size_t kBytes = 64;
  static constexpr int kFloats = 16, kInt16Macs = 32, kInt16Chains = 12;
  using F = __m512;
  using I = __m512i;
  static F set1(float x) { return _mm512_set1_ps(x); }
  static F fma(F x, F y, F z) { return _mm512_fmadd_ps(x, y, z); }
  static float first(F x) { return _mm512_cvtss_f32(x); }
  static I iset1(int x) { return _mm512_set1_epi32(x); }
  static I iadd(I x, I y) { return _mm512_add_epi32(x, y); }
  static I dot16(I acc, I x, I y) { return _mm512_dpwssd_epi32(acc, x, y); }
  static I iload(const uint8_t* p) { return _mm512_loadu_si512(p); }
  static int64_t ifirst(I x) {
    int32_t lanes[16];  // gcc 12 warns about the cast to 128 bits
    _mm512_storeu_si512(lanes, x);
    return lanes[0];
  }
};

}  // namespace

PeakLoops avx512_peak_loops() { return make_peak_loops<Avx512>(); }

}  // namespace wl::bench

#endif
