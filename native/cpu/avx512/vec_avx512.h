#pragma once
// The 16-lane vector type of AVX-512 (F, BW, VL, DQ, VNNI): one zmm register a vector. Included by
// one .cpp only, see cpu/avx2/vec_avx2.h.

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "cpu/exp_poly.h"

namespace wl::cpu {
namespace {

struct VecAvx512 {
  static constexpr int kTileColumns = 12;  // 12 x (acc, dot) and the weights fill 32 registers
  static constexpr bool kHasByteQuads = true;
  static constexpr int kTileRows = 8;  // of attention: twice the chains that hide a latency of 4
  static constexpr int kTileVectors = 12;  // accumulators of a tile of attention, in all

  using F = __m512;   // 16 floats
  using I = __m512i;  // 16 int32
  struct W {
    __m512i v;
  };  // 16 rows x 2 inputs, int16

  static F zero() { return _mm512_setzero_ps(); }
  static F set1(float x) { return _mm512_set1_ps(x); }
  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  static F load_f16(const uint8_t* p) { return _mm512_cvtph_ps(load_256(p)); }
  static F load_bf16(const uint8_t* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load_256(p)), 16));
  }
  static F add(F x, F y) { return _mm512_add_ps(x, y); }
  static F sub(F x, F y) { return _mm512_sub_ps(x, y); }
  static F mul(F x, F y) { return _mm512_mul_ps(x, y); }
  static F div(F x, F y) { return _mm512_div_ps(x, y); }
  /// x * y + z, one rounding.
  static F fma(F x, F y, F z) { return _mm512_fmadd_ps(x, y, z); }
  /// The second operand when either is NaN.
  static F max(F x, F y) { return _mm512_max_ps(x, y); }
  static F min(F x, F y) { return _mm512_min_ps(x, y); }
  static F negate(F x) { return _mm512_xor_ps(x, _mm512_set1_ps(-0.0f)); }
  /// 2^n for whole n in [-126, 127].
  static F power_of_two(F n) {
    const __m512i exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23));
  }

  static I izero() { return _mm512_setzero_si512(); }
  static I iset1(int32_t x) { return _mm512_set1_epi32(x); }
  static void istore(int32_t* p, I x) { _mm512_storeu_si512(p, x); }
  static I iload(const int32_t* p) { return _mm512_loadu_si512(p); }
  template <int kBits>
  static I shift_left(I x) {
    return _mm512_slli_epi32(x, kBits);
  }
  static I iadd(I x, I y) { return _mm512_add_epi32(x, y); }
  static I imul(I x, I y) { return _mm512_mullo_epi32(x, y); }
  static I imax(I x, I y) { return _mm512_max_epi32(x, y); }
  /// Sum of the lanes.
  static int32_t isum(I x) { return _mm512_reduce_add_epi32(x); }
  /// 16 signed bytes.
  static I load_i8(const uint8_t* p) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  /// 16 bytes of two nibbles, 0..15 each.
  static void load_nibbles(const uint8_t* p, I* low, I* high) {
    const __m512i bytes =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    *low = _mm512_and_si512(bytes, _mm512_set1_epi32(15));
    *high = _mm512_srli_epi32(bytes, 4);
  }
  static F to_float(I x) { return _mm512_cvtepi32_ps(x); }
  /// Round half to even.
  static I round_to_int(F x) { return _mm512_cvtps_epi32(x); }
  static I magnitude_bits(F x) {
    return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
  }
  /// 16 values that fit int16.
  static void store_i16(int16_t* p, I x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(x));
  }

  /// 32 signed bytes: 16 rows x 2 inputs.
  static W load_bytes(const uint8_t* p) { return {_mm512_cvtepi8_epi16(load_256(p))}; }
  /// 32 words of 16 bits.
  static W load_words(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }
  static W and_words(W x, int16_t mask) { return {_mm512_and_si512(x.v, _mm512_set1_epi16(mask))}; }
  static W or_words(W x, W y) { return {_mm512_or_si512(x.v, y.v)}; }
  /// Shifts in zeros.
  static W shift_words_right(W x, int n) { return {_mm512_srli_epi16(x.v, n)}; }
  /// 32 bytes of two nibbles, 0..15 each.
  static void unpack_nibbles(const uint8_t* p, W* low, W* high) {
    const __m512i bytes = _mm512_cvtepu8_epi16(load_256(p));
    *low = {_mm512_and_si512(bytes, _mm512_set1_epi16(15))};
    *high = {_mm512_srli_epi16(bytes, 4)};
  }
  /// The same, each nibble standing for an entry of `table`.
  static void look_up_nibbles(const uint8_t* p, const int8_t* table, W* low, W* high) {
    const __m256i entries =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
    const __m256i bytes = load_256(p), mask = _mm256_set1_epi8(15);
    const __m256i high_bytes = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask);
    *low = {_mm512_cvtepi8_epi16(_mm256_shuffle_epi8(entries, _mm256_and_si256(bytes, mask)))};
    *high = {_mm512_cvtepi8_epi16(_mm256_shuffle_epi8(entries, high_bytes))};
  }
  /// 32 bytes of nibbles as bytes: 16 rows x 4 inputs.
  static I nibble_quads(const uint8_t* nibbles) {
    // A row's 16 bits hold inputs 0, 1 in the low nibbles and 2, 3 in the high ones.
    const __m512i rows = _mm512_cvtepu16_epi32(load_256(nibbles));
    return _mm512_and_si512(_mm512_or_si512(rows, _mm512_slli_epi32(rows, 12)),
                            _mm512_set1_epi8(15));
  }
  /// 64 bytes 0..15, each standing for an entry of `table`.
  static I look_up_bytes(I x, const int8_t* table) {
    const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(entries), x);
  }
  /// Each of 64 bytes less y.
  static I subtract_from_bytes(I x, int8_t y) { return _mm512_sub_epi8(x, _mm512_set1_epi8(y)); }
  /// 64 bytes of two times 16 rows x 2 inputs: 16 rows x 4 inputs.
  static I byte_quads(const uint8_t* bytes) {
    return _mm512_permutexvar_epi16(pairs_to_quads(), _mm512_loadu_si512(bytes));
  }
  /// dot[c][row] += nibbles times bytes over 16 inputs: 128 bytes of nibbles, q8[c] the inputs.
  template <int kColumns>
  static void add_nibble_quads(const uint8_t* nibbles, const int8_t* const* q8, I* dot) {
#pragma GCC unroll 4
    for (int k = 0; k < 16; k += 4, nibbles += 32) {
      const __m512i quads = nibble_quads(nibbles);
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) dot[c] = dot_quad(dot[c], quads, q8[c] + k);
    }
  }
  /// dot[c][row] += (bytes + 128) times bytes over 16 inputs: 256 signed bytes of weights.
  template <int kColumns>
  static void add_byte_quads(const uint8_t* bytes, const int8_t* const* q8, I* dot) {
    const __m512i flip = _mm512_set1_epi8(-128);
#pragma GCC unroll 4
    for (int k = 0; k < 16; k += 4, bytes += 64) {
      const __m512i quads = _mm512_xor_si512(byte_quads(bytes), flip);
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) dot[c] = dot_quad(dot[c], quads, q8[c] + k);
    }
  }
  /// dot[c][row] += words times bytes over inputs k, k + 1 (`low`) and k + 2, k + 3 (`high`); words
  /// are 0..255.
  template <int kColumns>
  static void add_word_quads(W low, W high, const int8_t* const* q8, int k, I* dot) {
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15));
    const __m512i bytes = _mm512_or_si512(low.v, _mm512_slli_epi32(high.v, 8));
    const __m512i quads = _mm512_shuffle_epi8(bytes, order);
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) dot[c] = dot_quad(dot[c], quads, q8[c] + k);
  }
  /// acc[row] += w[row][0] * pair[0] + w[row][1] * pair[1], exact.
  static I dot_pairs(I acc, W w, const int16_t* pair) {
    int32_t bits;
    std::memcpy(&bits, pair, sizeof(bits));
    return _mm512_dpwssd_epi32(acc, w.v, _mm512_set1_epi32(bits));
  }

 private:
  /// Words 0, 16, 1, 17, ... 15, 31.
  static __m512i pairs_to_quads() {
    const __m512i index =
        _mm512_cvtepu8_epi32(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    return _mm512_or_si512(index,
                           _mm512_slli_epi32(_mm512_add_epi32(index, _mm512_set1_epi32(16)), 16));
  }
  /// acc[row] += the four products of unsigned weights and signed inputs, exact.
  static I dot_quad(I acc, __m512i weights, const int8_t* quad) {
    int32_t bits;
    std::memcpy(&bits, quad, sizeof(bits));
    return _mm512_dpbusd_epi32(acc, weights, _mm512_set1_epi32(bits));
  }
  static __m256i load_256(const uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
};

}  // namespace
}  // namespace wl::cpu
