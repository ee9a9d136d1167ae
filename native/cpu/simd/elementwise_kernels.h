#pragma once
// exp, activation quantisation, RMS norm and SwiGLU over 16 lanes, written once for every
// instruction set; see cpu/simd/linear_kernels.h for what V is. Equal to
// cpu/ref/elementwise_ref.cpp bit for bit.

#include <cstring>

#include "cpu/exp_poly.h"
#include "cpu/kernels.h"

namespace wl::cpu::simd {

constexpr int kLanes = 16;

/// Adds 16 lanes: j + (j + 8), then 4, 2, 1.
template <class V>
float lane_tree_sum(typename V::F value) {
  float level[kLanes];
  V::store(level, value);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) level[j] = level[j] + level[j + half];
  }
  return level[0];
}

/// e^x, cpu/exp_poly.h. NaN stays NaN: V::max and V::min return their second operand then.
template <class V>
typename V::F exp_lanes(typename V::F x) {
  using F = typename V::F;
  x = V::min(V::set1(kExpMax), V::max(V::set1(kExpMin), x));
  const F magic = V::set1(kRoundMagic);
  const F n = V::sub(V::add(V::mul(x, V::set1(kLog2E)), magic), magic);
  const F minus_n = V::negate(n);
  F r = V::fma(minus_n, V::set1(kLn2High), x);
  r = V::fma(minus_n, V::set1(kLn2Low), r);
  F p = V::set1(kExpCoefficients[0]);
#pragma GCC unroll 8
  for (int i = 1; i < kNumExpCoefficients; ++i) p = V::fma(p, r, V::set1(kExpCoefficients[i]));
  return V::mul(p, V::power_of_two(n));
}

/// Loads `count` (1..16) floats, the other lanes zero.
template <class V>
typename V::F load_partial(const float* x, int count) {
  if (count >= kLanes) return V::load(x);
  float lanes[kLanes] = {};
  std::memcpy(lanes, x, sizeof(float) * static_cast<size_t>(count));
  return V::load(lanes);
}

template <class V>
void store_partial(float* out, typename V::F value, int count) {
  if (count >= kLanes) {
    V::store(out, value);
    return;
  }
  float lanes[kLanes];
  V::store(lanes, value);
  std::memcpy(out, lanes, sizeof(float) * static_cast<size_t>(count));
}

template <class V>
void rms_norm_row(float* out, const float* x, const float* weight, int cols, float eps) {
  typename V::F squares = V::zero();
  for (int i = 0; i < cols; i += kLanes) {
    const typename V::F value = load_partial<V>(x + i, cols - i);
    squares = V::fma(value, value, squares);
  }
  const float mean = lane_tree_sum<V>(squares) / static_cast<float>(cols);
  const typename V::F scale = V::set1(1.0f / __builtin_sqrtf(mean + eps));
  for (int i = 0; i < cols; i += kLanes) {
    const typename V::F value = V::mul(load_partial<V>(x + i, cols - i), scale);
    store_partial<V>(out + i, V::mul(value, load_partial<V>(weight + i, cols - i)), cols - i);
  }
}

template <class V>
void silu_mul(float* gate, const float* up, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int lanes = count - i < kLanes ? static_cast<int>(count - i) : kLanes;
    const typename V::F g = load_partial<V>(gate + i, lanes);
    const typename V::F e = exp_lanes<V>(V::negate(g));
    const typename V::F silu = V::div(g, V::add(V::set1(1.0f), e));
    store_partial<V>(gate + i, V::mul(silu, load_partial<V>(up + i, lanes)), lanes);
  }
}

/// One block of 32 inputs; the formula and the bad-value rules are in cpu/ref/elementwise_ref.cpp.
template <class V>
void quantize_block(const float* x, float levels, int16_t* q, float* scale, int32_t* sum) {
  const typename V::F low = V::load(x), high = V::load(x + kLanes);
  int32_t lanes[kLanes];
  V::istore(lanes, V::imax(V::magnitude_bits(low), V::magnitude_bits(high)));
  int32_t bits = 0;
  for (int j = 0; j < kLanes; ++j) bits = lanes[j] > bits ? lanes[j] : bits;
  float amax;
  std::memcpy(&amax, &bits, sizeof(amax));
  *sum = 0;
  const bool is_finite = bits < 0x7f800000;
  const float inverse = levels / amax;
  if (!is_finite || !__builtin_isfinite(inverse)) {
    *scale = is_finite ? 0.0f : __builtin_nanf("");
    std::memset(q, 0, sizeof(int16_t) * backend::kBlockInputs);
    return;
  }
  *scale = amax / levels;
  const typename V::I q_low = V::round_to_int(V::mul(low, V::set1(inverse)));
  const typename V::I q_high = V::round_to_int(V::mul(high, V::set1(inverse)));
  V::store_i16(q, q_low);
  V::store_i16(q + kLanes, q_high);
  V::istore(lanes, V::iadd(q_low, q_high));
  for (int j = 0; j < kLanes; ++j) *sum += lanes[j];
}

template <class V>
void quantize_rows(backend::Matrix x, int row_begin, int row_end, float levels, int16_t* q,
                   float* scale, int32_t* sum) {
  const int num_blocks = x.cols / backend::kBlockInputs;
  for (int64_t r = row_begin; r < row_end; ++r) {
    for (int b = 0; b < num_blocks; ++b) {
      const int64_t index = r * num_blocks + b;
      quantize_block<V>(x.row(static_cast<int>(r)) + b * backend::kBlockInputs, levels,
                        q + index * backend::kBlockInputs, scale + index, sum + index);
    }
  }
}

}  // namespace wl::cpu::simd
