#pragma once
// The 16-lane vector type of AVX2 + FMA + F16C: two ymm registers a vector. Included by one .cpp
// only; the unnamed namespace keeps every instantiation inside it (an external inline copy could be
// the one the linker keeps for the whole program).

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "cpu/exp_poly.h"

namespace wl::cpu {
namespace {

struct VecAvx2 {
  static constexpr int kTileColumns = 4;        // 4 x 2 accumulators leave half of the 16 registers
  static constexpr bool kHasByteQuads = false;  // their 16-bit sums would overflow
  static constexpr int kTileRows = 6;           // of attention: 6 x 2 accumulators and three more
  static constexpr int kTileVectors = 6;        // accumulators of a tile of attention, in all

  struct F {
    __m256 a, b;
  };  // 16 floats, a = lanes 0..7
  struct I {
    __m256i a, b;
  };  // 16 int32
  struct W {
    __m256i a, b;
  };  // 16 rows x 2 inputs, int16

  static F zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static F set1(float x) {
    const __m256 v = _mm256_set1_ps(x);
    return {v, v};
  }
  static F load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static void store(float* p, F x) {
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
  }
  static F load_f16(const uint8_t* p) {
    const auto* half = reinterpret_cast<const __m128i*>(p);
    return {_mm256_cvtph_ps(_mm_loadu_si128(half)), _mm256_cvtph_ps(_mm_loadu_si128(half + 1))};
  }
  static F load_bf16(const uint8_t* p) {
    const auto* half = reinterpret_cast<const __m128i*>(p);
    return {widen_bf16(_mm_loadu_si128(half)), widen_bf16(_mm_loadu_si128(half + 1))};
  }
  static F add(F x, F y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
  static F sub(F x, F y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
  static F mul(F x, F y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
  static F div(F x, F y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
  /// x * y + z, one rounding.
  static F fma(F x, F y, F z) {
    return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
  }
  /// The second operand when either is NaN.
  static F max(F x, F y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
  static F min(F x, F y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
  static F negate(F x) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_xor_ps(x.a, sign), _mm256_xor_ps(x.b, sign)};
  }
  /// 2^n for whole n in [-126, 127].
  static F power_of_two(F n) { return {power_of_two_8(n.a), power_of_two_8(n.b)}; }

  static I izero() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  static I iset1(int32_t x) {
    const __m256i v = _mm256_set1_epi32(x);
    return {v, v};
  }
  static void istore(int32_t* p, I x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x.a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), x.b);
  }
  static I iadd(I x, I y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
  static I imul(I x, I y) { return {_mm256_mullo_epi32(x.a, y.a), _mm256_mullo_epi32(x.b, y.b)}; }
  static I imax(I x, I y) { return {_mm256_max_epi32(x.a, y.a), _mm256_max_epi32(x.b, y.b)}; }
  /// Sum of the lanes.
  static int32_t isum(I x) {
    const __m256i pairs = _mm256_add_epi32(x.a, x.b);
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
  }
  /// 16 signed bytes.
  static I load_i8(const uint8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {_mm256_cvtepi8_epi32(bytes), _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8))};
  }
  /// 16 bytes of two nibbles, 0..15 each.
  static void load_nibbles(const uint8_t* p, I* low, I* high) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m256i a = _mm256_cvtepu8_epi32(bytes);
    const __m256i b = _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8));
    const __m256i mask = _mm256_set1_epi32(15);
    *low = {_mm256_and_si256(a, mask), _mm256_and_si256(b, mask)};
    *high = {_mm256_srli_epi32(a, 4), _mm256_srli_epi32(b, 4)};
  }
  static F to_float(I x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
  /// Round half to even.
  static I round_to_int(F x) { return {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }
  static I magnitude_bits(F x) {
    const __m256i mask = _mm256_set1_epi32(0x7fffffff);
    return {_mm256_and_si256(_mm256_castps_si256(x.a), mask),
            _mm256_and_si256(_mm256_castps_si256(x.b), mask)};
  }
  /// 16 values that fit int16.
  static void store_i16(int16_t* p, I x) {
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(x.a, x.b), 0xd8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), packed);
  }

  /// 32 signed bytes: 16 rows x 2 inputs.
  static W load_bytes(const uint8_t* p) {
    const auto* half = reinterpret_cast<const __m128i*>(p);
    return {_mm256_cvtepi8_epi16(_mm_loadu_si128(half)),
            _mm256_cvtepi8_epi16(_mm_loadu_si128(half + 1))};
  }
  /// 32 words of 16 bits.
  static W load_words(const uint8_t* p) {
    const auto* half = reinterpret_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(half), _mm256_loadu_si256(half + 1)};
  }
  static W and_words(W x, int16_t mask) {
    const __m256i m = _mm256_set1_epi16(mask);
    return {_mm256_and_si256(x.a, m), _mm256_and_si256(x.b, m)};
  }
  static W or_words(W x, W y) { return {_mm256_or_si256(x.a, y.a), _mm256_or_si256(x.b, y.b)}; }
  /// Shifts in zeros.
  static W shift_words_right(W x, int n) {
    return {_mm256_srli_epi16(x.a, n), _mm256_srli_epi16(x.b, n)};
  }
  /// 32 bytes of two nibbles, 0..15 each.
  static void unpack_nibbles(const uint8_t* p, W* low, W* high) {
    const auto* half = reinterpret_cast<const __m128i*>(p);
    const __m256i a = _mm256_cvtepu8_epi16(_mm_loadu_si128(half));
    const __m256i b = _mm256_cvtepu8_epi16(_mm_loadu_si128(half + 1));
    const __m256i mask = _mm256_set1_epi16(15);
    *low = {_mm256_and_si256(a, mask), _mm256_and_si256(b, mask)};
    *high = {_mm256_srli_epi16(a, 4), _mm256_srli_epi16(b, 4)};
  }
  /// The same, each nibble standing for an entry of `table`.
  static void look_up_nibbles(const uint8_t* p, const int8_t* table, W* low, W* high) {
    const __m256i entries =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i mask = _mm256_set1_epi8(15);
    *low = widen_bytes(_mm256_shuffle_epi8(entries, _mm256_and_si256(bytes, mask)));
    *high = widen_bytes(
        _mm256_shuffle_epi8(entries, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask)));
  }
  /// dot[c][row] += nibbles times bytes over 16 inputs: 128 bytes of nibbles, q8[c] the inputs.
  /// Eight products of 15 * 127 * 2 at most stay within the 16 bits in which they are added.
  template <int kColumns>
  static void add_nibble_quads(const uint8_t* nibbles, const int8_t* const* q8, I* dot) {
    const __m256i mask = _mm256_set1_epi8(15);
    __m256i sum[kColumns];
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) sum[c] = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (int k = 0; k < 16; k += 4, nibbles += 32) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(nibbles));
      const __m256i low = _mm256_and_si256(bytes, mask);
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask);
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) {
        sum[c] = _mm256_add_epi16(sum[c], _mm256_maddubs_epi16(low, set1_pair(q8[c] + k)));
        sum[c] = _mm256_add_epi16(sum[c], _mm256_maddubs_epi16(high, set1_pair(q8[c] + k + 2)));
      }
    }
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) {
      const W wide = widen_words(sum[c]);
      dot[c] = {_mm256_add_epi32(dot[c].a, wide.a), _mm256_add_epi32(dot[c].b, wide.b)};
    }
  }
  /// acc[row] += w[row][0] * pair[0] + w[row][1] * pair[1], exact.
  static I dot_pairs(I acc, W w, const int16_t* pair) {
    int32_t bits;
    std::memcpy(&bits, pair, sizeof(bits));
    const __m256i x = _mm256_set1_epi32(bits);
    return {_mm256_add_epi32(acc.a, _mm256_madd_epi16(w.a, x)),
            _mm256_add_epi32(acc.b, _mm256_madd_epi16(w.b, x))};
  }

 private:
  static __m256i set1_pair(const int8_t* pair) {
    int16_t bits;
    std::memcpy(&bits, pair, sizeof(bits));
    return _mm256_set1_epi16(bits);
  }
  /// 16 int16 as int32: lanes 0..7, 8..15.
  static W widen_words(__m256i words) {
    return {_mm256_cvtepi16_epi32(_mm256_castsi256_si128(words)),
            _mm256_cvtepi16_epi32(_mm256_extracti128_si256(words, 1))};
  }
  static W widen_bytes(__m256i bytes) {
    return {_mm256_cvtepi8_epi16(_mm256_castsi256_si128(bytes)),
            _mm256_cvtepi8_epi16(_mm256_extracti128_si256(bytes, 1))};
  }
  static __m256 widen_bf16(__m128i half) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
  }
  static __m256 power_of_two_8(__m256 n) {
    const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
  }
};

}  // namespace
}  // namespace wl::cpu
