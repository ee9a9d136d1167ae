#pragma once
// The AVX-512 intrinsics that cpu/avx512 uses, as two AVX2 halves each, so that its kernels are
// checked bit for bit on CPUs that lack them. Include it before cpu/avx512/vec_avx512.h: the macros
// at the end put these in the place of the compiler's own.

#include <immintrin.h>

#include <cstdint>

namespace wl::cpu {
namespace {

struct Emulated512 {
  __m256 low, high;
};
struct Emulated512i {
  __m256i low, high;
};

struct Emulated {
  using F = Emulated512;
  using I = Emulated512i;

  static F setzero_ps() { return set1_ps(0); }
  static F set1_ps(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static F loadu_ps(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static void storeu_ps(float* p, F x) {
    _mm256_storeu_ps(p, x.low);
    _mm256_storeu_ps(p + 8, x.high);
  }
  static F add_ps(F x, F y) { return {x.low + y.low, x.high + y.high}; }
  static F sub_ps(F x, F y) { return {x.low - y.low, x.high - y.high}; }
  static F mul_ps(F x, F y) { return {x.low * y.low, x.high * y.high}; }
  static F div_ps(F x, F y) { return {x.low / y.low, x.high / y.high}; }
  static F max_ps(F x, F y) { return {_mm256_max_ps(x.low, y.low), _mm256_max_ps(x.high, y.high)}; }
  static F min_ps(F x, F y) { return {_mm256_min_ps(x.low, y.low), _mm256_min_ps(x.high, y.high)}; }
  static F xor_ps(F x, F y) { return {_mm256_xor_ps(x.low, y.low), _mm256_xor_ps(x.high, y.high)}; }
  static F fmadd_ps(F x, F y, F z) {
    return {_mm256_fmadd_ps(x.low, y.low, z.low), _mm256_fmadd_ps(x.high, y.high, z.high)};
  }
  static F castsi512_ps(I x) { return {_mm256_castsi256_ps(x.low), _mm256_castsi256_ps(x.high)}; }
  static I castps_si512(F x) { return {_mm256_castps_si256(x.low), _mm256_castps_si256(x.high)}; }
  static F cvtph_ps(__m256i x) {
    return {_mm256_cvtph_ps(low_128(x)), _mm256_cvtph_ps(high_128(x))};
  }
  static F cvtepi32_ps(I x) { return {_mm256_cvtepi32_ps(x.low), _mm256_cvtepi32_ps(x.high)}; }
  static I cvtps_epi32(F x) { return {_mm256_cvtps_epi32(x.low), _mm256_cvtps_epi32(x.high)}; }

  static I setzero_si512() { return set1_epi32(0); }
  static I set1_epi32(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
  static I set1_epi8(int8_t x) { return {_mm256_set1_epi8(x), _mm256_set1_epi8(x)}; }
  static I loadu_si512(const void* p) {
    const auto* half = static_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(half), _mm256_loadu_si256(half + 1)};
  }
  static I set1_epi16(int16_t x) { return {_mm256_set1_epi16(x), _mm256_set1_epi16(x)}; }
  static void storeu_si512(void* p, I x) {
    auto* half = static_cast<__m256i*>(p);
    _mm256_storeu_si256(half, x.low);
    _mm256_storeu_si256(half + 1, x.high);
  }
  static I add_epi32(I x, I y) {
    return {_mm256_add_epi32(x.low, y.low), _mm256_add_epi32(x.high, y.high)};
  }
  static I mullo_epi32(I x, I y) {
    return {_mm256_mullo_epi32(x.low, y.low), _mm256_mullo_epi32(x.high, y.high)};
  }
  static I max_epi32(I x, I y) {
    return {_mm256_max_epi32(x.low, y.low), _mm256_max_epi32(x.high, y.high)};
  }
  static I and_si512(I x, I y) {
    return {_mm256_and_si256(x.low, y.low), _mm256_and_si256(x.high, y.high)};
  }
  static I or_si512(I x, I y) {
    return {_mm256_or_si256(x.low, y.low), _mm256_or_si256(x.high, y.high)};
  }
  static I xor_si512(I x, I y) {
    return {_mm256_xor_si256(x.low, y.low), _mm256_xor_si256(x.high, y.high)};
  }
  static I slli_epi32(I x, int n) {
    return {_mm256_slli_epi32(x.low, n), _mm256_slli_epi32(x.high, n)};
  }
  static I srli_epi32(I x, int n) {
    return {_mm256_srli_epi32(x.low, n), _mm256_srli_epi32(x.high, n)};
  }
  static I srli_epi16(I x, int n) {
    return {_mm256_srli_epi16(x.low, n), _mm256_srli_epi16(x.high, n)};
  }
  static int32_t reduce_add_epi32(I x) {
    alignas(32) int32_t lanes[16];
    storeu_si512(lanes, x);
    int32_t sum = 0;
    for (const int32_t lane : lanes) sum += lane;
    return sum;
  }
  static I cvtepi8_epi32(__m128i x) {
    return {_mm256_cvtepi8_epi32(x), _mm256_cvtepi8_epi32(_mm_srli_si128(x, 8))};
  }
  static I cvtepu8_epi32(__m128i x) {
    return {_mm256_cvtepu8_epi32(x), _mm256_cvtepu8_epi32(_mm_srli_si128(x, 8))};
  }
  static I cvtepu16_epi32(__m256i x) {
    return {_mm256_cvtepu16_epi32(low_128(x)), _mm256_cvtepu16_epi32(high_128(x))};
  }
  static I cvtepi8_epi16(__m256i x) {
    return {_mm256_cvtepi8_epi16(low_128(x)), _mm256_cvtepi8_epi16(high_128(x))};
  }
  static I cvtepu8_epi16(__m256i x) {
    return {_mm256_cvtepu8_epi16(low_128(x)), _mm256_cvtepu8_epi16(high_128(x))};
  }
  /// The low 16 bits of every lane.
  static __m256i cvtepi32_epi16(I x) {
    const __m256i mask = _mm256_set1_epi32(0xffff);
    const __m256i packed =
        _mm256_packus_epi32(_mm256_and_si256(x.low, mask), _mm256_and_si256(x.high, mask));
    return _mm256_permute4x64_epi64(packed, 0xd8);
  }
  /// acc + the two products of 16-bit halves of each lane, modulo 2^32.
  static I dpwssd_epi32(I acc, I x, I y) {
    return {_mm256_add_epi32(acc.low, _mm256_madd_epi16(x.low, y.low)),
            _mm256_add_epi32(acc.high, _mm256_madd_epi16(x.high, y.high))};
  }
  /// acc + the four products of unsigned bytes of x and signed bytes of y in each lane.
  static I dpbusd_epi32(I acc, I x, I y) {
    int32_t sums[16];
    uint8_t unsigned_bytes[64];
    int8_t signed_bytes[64];
    storeu_si512(sums, acc);
    storeu_si512(unsigned_bytes, x);
    storeu_si512(signed_bytes, y);
    for (int i = 0; i < 64; ++i) sums[i / 4] += unsigned_bytes[i] * signed_bytes[i];
    return loadu_si512(sums);
  }
  static I broadcast_i32x4(__m128i x) {
    return {_mm256_broadcastsi128_si256(x), _mm256_broadcastsi128_si256(x)};
  }
  static I sub_epi8(I x, I y) {
    return {_mm256_sub_epi8(x.low, y.low), _mm256_sub_epi8(x.high, y.high)};
  }
  static I shuffle_epi8(I x, I order) {
    return {_mm256_shuffle_epi8(x.low, order.low), _mm256_shuffle_epi8(x.high, order.high)};
  }
  /// Word i is word index[i] of x.
  static I permutexvar_epi16(I index, I x) {
    uint16_t from[32], order[32], to[32];
    storeu_si512(from, x);
    storeu_si512(order, index);
    for (int i = 0; i < 32; ++i) to[i] = from[order[i] % 32];
    return loadu_si512(to);
  }

 private:
  static __m128i low_128(__m256i x) { return _mm256_castsi256_si128(x); }
  static __m128i high_128(__m256i x) { return _mm256_extracti128_si256(x, 1); }
};

}  // namespace
}  // namespace wl::cpu

#define __m512 Emulated512
#define __m512i Emulated512i
#define _mm512_add_epi32 Emulated::add_epi32
#define _mm512_add_ps Emulated::add_ps
#define _mm512_and_si512 Emulated::and_si512
#define _mm512_castps_si512 Emulated::castps_si512
#define _mm512_castsi512_ps Emulated::castsi512_ps
#define _mm512_cvtepi32_epi16 Emulated::cvtepi32_epi16
#define _mm512_cvtepi32_ps Emulated::cvtepi32_ps
#define _mm512_cvtepi8_epi16 Emulated::cvtepi8_epi16
#define _mm512_cvtepi8_epi32 Emulated::cvtepi8_epi32
#define _mm512_cvtepu16_epi32 Emulated::cvtepu16_epi32
#define _mm512_cvtepu8_epi16 Emulated::cvtepu8_epi16
#define _mm512_cvtepu8_epi32 Emulated::cvtepu8_epi32
#define _mm512_cvtph_ps Emulated::cvtph_ps
#define _mm512_cvtps_epi32 Emulated::cvtps_epi32
#define _mm512_div_ps Emulated::div_ps
#define _mm512_dpwssd_epi32 Emulated::dpwssd_epi32
#define _mm512_fmadd_ps Emulated::fmadd_ps
#define _mm512_loadu_ps Emulated::loadu_ps
#define _mm512_max_epi32 Emulated::max_epi32
#define _mm512_max_ps Emulated::max_ps
#define _mm512_min_ps Emulated::min_ps
#define _mm512_mul_ps Emulated::mul_ps
#define _mm512_mullo_epi32 Emulated::mullo_epi32
#define _mm512_reduce_add_epi32 Emulated::reduce_add_epi32
#define _mm512_set1_epi16 Emulated::set1_epi16
#define _mm512_set1_epi32 Emulated::set1_epi32
#define _mm512_set1_ps Emulated::set1_ps
#define _mm512_setzero_ps Emulated::setzero_ps
#define _mm512_setzero_si512 Emulated::setzero_si512
#define _mm512_slli_epi32 Emulated::slli_epi32
#define _mm512_srli_epi16 Emulated::srli_epi16
#define _mm512_srli_epi32 Emulated::srli_epi32
#define _mm512_storeu_ps Emulated::storeu_ps
#define _mm512_storeu_si512 Emulated::storeu_si512
#define _mm512_sub_ps Emulated::sub_ps
#define _mm512_xor_ps Emulated::xor_ps
#define _mm512_broadcast_i32x4 Emulated::broadcast_i32x4
#define _mm512_sub_epi8 Emulated::sub_epi8
#define _mm512_shuffle_epi8 Emulated::shuffle_epi8
#define _mm512_or_si512 Emulated::or_si512
#define _mm512_xor_si512 Emulated::xor_si512
#define _mm512_set1_epi8 Emulated::set1_epi8
#define _mm512_loadu_si512 Emulated::loadu_si512
#define _mm512_dpbusd_epi32 Emulated::dpbusd_epi32
#define _mm512_permutexvar_epi16 Emulated::permutexvar_epi16
