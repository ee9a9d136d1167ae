#pragma once
// exp, activation quantisation, norms and the operations element by element over 16 lanes, written
// once for every instruction set; see cpu/simd/linear_tiles.h for what V is. Equal to
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

/// Runs `body(i, lanes)` over parts of [0, count) of 16 elements, the last one shorter.
template <class Body>
void over_lanes(int64_t count, const Body& body) {
  for (int64_t i = 0; i < count; i += kLanes) {
    body(i, count - i < kLanes ? static_cast<int>(count - i) : kLanes);
  }
}

/// g / (1 + exp(-z)).
template <class V>
typename V::F times_sigmoid(typename V::F g, typename V::F z) {
  return V::div(g, V::add(V::set1(1.0f), exp_lanes<V>(V::negate(z))));
}

template <class V>
void gated_mlp(float* gate, const float* up, int64_t count, backend::MlpGate how) {
  using F = typename V::F;
  // min and max keep the NaN of their second operand.
  const F limit = V::set1(how.limit), minus_limit = V::set1(-how.limit);
  over_lanes(count, [&](int64_t i, int lanes) {
    F g = load_partial<V>(gate + i, lanes), u = load_partial<V>(up + i, lanes), z = g;
    if (how.kind == backend::MlpActivation::kGeluTanh) {
      z = V::mul(g, V::fma(V::mul(g, g), V::set1(kGeluCubic), V::set1(kGeluLinear)));
    } else if (how.kind == backend::MlpActivation::kClampedSwiglu) {
      g = V::min(limit, g);
      u = V::add(V::max(minus_limit, V::min(limit, u)), V::set1(1.0f));
      z = V::mul(V::set1(kClampedSwigluSlope), g);
    }
    store_partial<V>(gate + i, V::mul(times_sigmoid<V>(g, z), u), lanes);
  });
}

template <class V>
void add_scaled(float* x, const float* y, float scale, int64_t count) {
  over_lanes(count, [&](int64_t i, int lanes) {
    const typename V::F sum =
        V::fma(load_partial<V>(y + i, lanes), V::set1(scale), load_partial<V>(x + i, lanes));
    store_partial<V>(x + i, sum, lanes);
  });
}

template <class V>
void soft_cap(float* x, float cap, int64_t count) {
  using F = typename V::F;
  const F one = V::set1(1.0f), two = V::set1(2.0f), cap_lanes = V::set1(cap);
  over_lanes(count, [&](int64_t i, int lanes) {
    const F z = V::div(load_partial<V>(x + i, lanes), cap_lanes);
    const F e = exp_lanes<V>(V::mul(V::set1(-2.0f), z));
    const F tanh = V::sub(V::div(two, V::add(one, e)), one);
    store_partial<V>(x + i, V::mul(cap_lanes, tanh), lanes);
  });
}

template <class V>
float exp_row(float* x, int count, float largest) {
  typename V::F total = V::zero();
  over_lanes(count, [&](int64_t i, int lanes) {
    store_partial<V>(x + i, exp_lanes<V>(V::sub(load_partial<V>(x + i, lanes), V::set1(largest))),
                     lanes);
    total = V::add(total, load_partial<V>(x + i, lanes));
  });
  return lane_tree_sum<V>(total);
}

template <class V>
void add_weighted_row(float* x, backend::Matrix y, int num_used, const int32_t* rows,
                      const float* weights) {
  over_lanes(y.cols, [&](int64_t i, int lanes) {
    typename V::F sum = V::zero();
    for (int j = 0; j < num_used; ++j) {
      sum = V::fma(V::set1(weights[j]), load_partial<V>(y.row(rows[j]) + i, lanes), sum);
    }
    store_partial<V>(x + i, V::add(load_partial<V>(x + i, lanes), sum), lanes);
  });
}

/// One block of 32 inputs; the formula and the bad-value rules are in cpu/ref/elementwise_ref.cpp.
template <class V>
void quantize_block(const float* x, float levels, const QuantizedRows& out, int64_t index) {
  int16_t* q = out.q + index * backend::kBlockInputs;
  float* scale = out.scale + index;
  const typename V::F low = V::load(x), high = V::load(x + kLanes);
  int32_t lanes[kLanes];
  V::istore(lanes, V::imax(V::magnitude_bits(low), V::magnitude_bits(high)));
  int32_t bits = 0;
  for (int j = 0; j < kLanes; ++j) bits = lanes[j] > bits ? lanes[j] : bits;
  float amax;
  std::memcpy(&amax, &bits, sizeof(amax));
  out.sum[index] = out.low_sum[index] = 0;
  const bool is_finite = bits < 0x7f800000;
  const float inverse = levels / amax;
  if (!is_finite || !__builtin_isfinite(inverse)) {
    *scale = out.scaled_sum[index] = is_finite ? 0.0f : __builtin_nanf("");
    std::memset(q, 0, sizeof(int16_t) * backend::kBlockInputs);
    return;
  }
  *scale = amax / levels;
  const typename V::I q_low = V::round_to_int(V::mul(low, V::set1(inverse)));
  const typename V::I q_high = V::round_to_int(V::mul(high, V::set1(inverse)));
  V::store_i16(q, q_low);
  V::store_i16(q + kLanes, q_high);
  out.low_sum[index] = V::isum(q_low);
  out.sum[index] = V::isum(V::iadd(q_low, q_high));
  out.scaled_sum[index] = *scale * static_cast<float>(out.sum[index]);
}

template <class V>
void quantize_rows(backend::Matrix x, int row_begin, int row_end, float levels,
                   const QuantizedRows& out) {
  const int num_blocks = x.cols / backend::kBlockInputs;
  for (int64_t r = row_begin; r < row_end; ++r) {
    for (int b = 0; b < num_blocks; ++b) {
      quantize_block<V>(x.row(static_cast<int>(r)) + b * backend::kBlockInputs, levels, out,
                        r * num_blocks + b);
    }
    if (out.q8 == nullptr) continue;
    const int64_t first = r * x.cols, end = first + x.cols;
    for (int64_t i = first; i < end; ++i) out.q8[i] = static_cast<int8_t>(out.q[i]);
  }
}

}  // namespace wl::cpu::simd
