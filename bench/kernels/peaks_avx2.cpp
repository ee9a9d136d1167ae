#if defined(WL_HAVE_AVX2)

#include <immintrin.h>

#include "peak_loops.h"

namespace wl::bench {
namespace {

struct Avx2 {
  static constexpr size_t kBytes = 32;
  static constexpr int kFloats = 8, kInt16Macs = 16, kInt16Chains = 8;
  using F = __m256;
  using I = __m256i;
  static F set1(float x) { return _mm256_set1_ps(x); }
  static F fma(F x, F y, F z) { return _mm256_fmadd_ps(x, y, z); }
  static float first(F x) { return _mm256_cvtss_f32(x); }
  static I iset1(int x) { return _mm256_set1_epi32(x); }
  static I iadd(I x, I y) { return _mm256_add_epi32(x, y); }
  static I dot16(I acc, I x, I y) { return _mm256_add_epi32(acc, _mm256_madd_epi16(x, y)); }
  static I iload(const uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static int64_t ifirst(I x) { return _mm256_extract_epi32(x, 0); }
};

}  // namespace

PeakLoops avx2_peak_loops() { return make_peak_loops<Avx2>(); }

}  // namespace wl::bench

#endif
