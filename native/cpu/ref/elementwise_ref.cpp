// Activation quantisation, normalisation and activation functions in scalar form.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "cpu/exp_poly.h"
#include "cpu/ref/kernels_ref.h"
#include "cpu/ref/lanes.h"

namespace wl::cpu::ref {

float exp_scalar(float x) {
  if (std::isnan(x)) return x;
  x = std::min(std::max(x, kExpMin), kExpMax);
  const float n = (x * kLog2E + kRoundMagic) - kRoundMagic;
  float r = std::fma(-n, kLn2High, x);
  r = std::fma(-n, kLn2Low, r);
  float p = kExpCoefficients[0];
  for (int i = 1; i < kNumExpCoefficients; ++i) p = std::fma(p, r, kExpCoefficients[i]);
  const uint32_t bits = static_cast<uint32_t>(static_cast<int32_t>(n) + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof(power));
  return p * power;
}

namespace {

/// Largest |x| of a block as bits: for non-negative floats the order of bits is the order of
/// values, with infinity and NaN on top, so a bad value is seen without a compare that NaN would
/// defeat.
uint32_t max_magnitude_bits(const float* x, int count) {
  uint32_t largest = 0;
  for (int i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, x + i, sizeof(bits));
    largest = std::max(largest, bits & 0x7fffffffu);
  }
  return largest;
}

constexpr uint32_t kInfinityBits = 0x7f800000u;

/// Block `index` of `out`.
void quantize_block(const float* x, float levels, const QuantizedRows& out, int64_t index) {
  int16_t* q = out.q + index * backend::kBlockInputs;
  float* scale = out.scale + index;
  const uint32_t bits = max_magnitude_bits(x, backend::kBlockInputs);
  float amax;
  std::memcpy(&amax, &bits, sizeof(amax));
  out.sum[index] = out.low_sum[index] = 0;
  const bool is_finite = bits < kInfinityBits;
  *scale = is_finite ? amax / levels : std::numeric_limits<float>::quiet_NaN();
  // Below this the inverse overflows; such a block is noise far under every other and counts as
  // zero.
  const float inverse = levels / amax;
  if (!is_finite || !(inverse <= std::numeric_limits<float>::max())) {
    if (is_finite) *scale = 0;
    std::memset(q, 0, sizeof(int16_t) * backend::kBlockInputs);
    return;
  }
  for (int i = 0; i < backend::kBlockInputs; ++i) {
    // Round half to even by the magic constant; |x * inverse| <= 16384 keeps it exact.
    const float rounded = (x[i] * inverse + kRoundMagic) - kRoundMagic;
    q[i] = static_cast<int16_t>(rounded);
    out.sum[index] += q[i];
    if (i < backend::kBlockInputs / 2) out.low_sum[index] += q[i];
  }
}

}  // namespace

void quantize_rows(backend::Matrix x, int row_begin, int row_end, float levels,
                   const QuantizedRows& out) {
  const int num_blocks = x.cols / backend::kBlockInputs;
  for (int64_t r = row_begin; r < row_end; ++r) {
    for (int b = 0; b < num_blocks; ++b) {
      const int64_t index = r * num_blocks + b;
      quantize_block(x.row(static_cast<int>(r)) + b * backend::kBlockInputs, levels, out, index);
      out.scaled_sum[index] = out.scale[index] * static_cast<float>(out.sum[index]);
      if (out.q8 != nullptr) {
        const int16_t* q = out.q + index * backend::kBlockInputs;
        std::copy_n(q, backend::kBlockInputs, out.q8 + index * backend::kBlockInputs);
      }
    }
  }
}

void rms_norm_row(float* out, const float* x, const float* weight, int cols, float eps) {
  float lanes[kLanes] = {};
  for (int i = 0; i < cols; ++i) lanes[i % kLanes] = std::fma(x[i], x[i], lanes[i % kLanes]);
  const float mean = lane_tree_sum(lanes) / static_cast<float>(cols);
  const float scale = 1.0f / std::sqrt(mean + eps);
  for (int i = 0; i < cols; ++i) out[i] = (x[i] * scale) * weight[i];
}

void gated_mlp(float* gate, const float* up, int64_t count, backend::MlpGate how) {
  for (int64_t i = 0; i < count; ++i) {
    float g = gate[i], u = up[i], z = g;
    if (how.kind == backend::MlpActivation::kGeluTanh) {
      z = g * std::fma(g * g, kGeluCubic, kGeluLinear);
    } else if (how.kind == backend::MlpActivation::kClampedSwiglu) {
      g = std::min(g, how.limit);
      u = std::max(std::min(u, how.limit), -how.limit) + 1.0f;
      z = kClampedSwigluSlope * g;
    }
    gate[i] = (g / (1.0f + exp_scalar(-z))) * u;
  }
}

void add_scaled(float* x, const float* y, float scale, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = std::fma(y[i], scale, x[i]);
}

void soft_cap(float* x, float cap, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const float e = exp_scalar(-2.0f * (x[i] / cap));
    x[i] = cap * (2.0f / (1.0f + e) - 1.0f);
  }
}

float exp_row(float* x, int count, float largest) {
  float lanes[kLanes] = {};
  for (int i = 0; i < count; ++i) {
    x[i] = exp_scalar(x[i] - largest);
    lanes[i % kLanes] += x[i];
  }
  return lane_tree_sum(lanes);
}

void add_weighted_row(float* x, backend::Matrix y, int num_used, const int32_t* rows,
                      const float* weights) {
  for (int i = 0; i < y.cols; ++i) {
    float sum = 0;
    for (int j = 0; j < num_used; ++j) sum = std::fma(weights[j], y.row(rows[j])[i], sum);
    x[i] += sum;
  }
}

const KernelTable* table() {
  static const KernelTable kTable = [] {
    KernelTable t{};
    t.name = "ref";
    t.quantize_rows = quantize_rows;
    for (auto& entry : t.linear) entry = linear;
    t.attention = attention;
    t.rms_norm_row = rms_norm_row;
    t.gated_mlp = gated_mlp;
    t.add_scaled = add_scaled;
    t.soft_cap = soft_cap;
    t.exp_row = exp_row;
    t.add_weighted_row = add_weighted_row;
    return t;
  }();
  return &kTable;
}

}  // namespace wl::cpu::ref

namespace wl::cpu {
const KernelTable* ref_kernels() { return ref::table(); }
}  // namespace wl::cpu
