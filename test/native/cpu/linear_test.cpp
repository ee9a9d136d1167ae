// Products: every kernel of every level this CPU has equals the scalar reference bit for bit, and
// the reference agrees with float64 arithmetic on dequantised weights.

#include <cmath>
#include <memory>

#include "check.h"
#include "cpu/pack.h"
#include "levels.h"
#include "quant/dequantize.h"

namespace wl::cpu {
namespace {

using backend::Matrix;
using backend::WeightSource;

const DType kWeightTypes[] = {DType::kF32,  DType::kF16,  DType::kBF16, DType::kQ4_0,
                              DType::kQ4_1, DType::kQ5_0, DType::kQ5_1, DType::kQ8_0,
                              DType::kQ4_K, DType::kQ5_K, DType::kQ6_K};

/// Random blocks with sane scales: every quant bit pattern, binary16 fields in +-2^-6.
std::vector<uint8_t> random_weight(std::mt19937& rng, DType type, int rows, int cols) {
  std::vector<uint8_t> bytes(static_cast<size_t>(rows) * row_bytes(type, cols));
  const DTypeTraits traits = dtype_traits(type);
  if (traits.block_elems == 1) {
    const Floats values = random_floats(rng, static_cast<size_t>(rows) * cols, 0.05f);
    for (size_t i = 0; i < values.size(); ++i) {
      uint32_t bits;
      std::memcpy(&bits, &values[i], 4);
      const uint16_t half =
          type == DType::kF16 ? quant::f32_to_f16(values[i]) : static_cast<uint16_t>(bits >> 16);
      if (type == DType::kF32) {
        std::memcpy(&bytes[4 * i], &bits, 4);
      } else {
        std::memcpy(&bytes[2 * i], &half, 2);
      }
    }
    return bytes;
  }
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(traits.block_bytes)) {
    const auto put_half = [&](size_t offset) {
      const float value = std::uniform_real_distribution<float>(-0.015f, 0.015f)(rng);
      const uint16_t half = quant::f32_to_f16(value);
      std::memcpy(&bytes[at + offset], &half, 2);
    };
    put_half(type == DType::kQ6_K ? 208 : 0);
    const bool has_min = type == DType::kQ4_1 || type == DType::kQ5_1 || type == DType::kQ4_K ||
                         type == DType::kQ5_K;
    if (has_min) put_half(2);
  }
  return bytes;
}

struct PackedWeight {
  std::vector<uint8_t> storage;
  backend::Weight weight;
};

PackedWeight pack(const WeightSource& source, backend::WeightForm form) {
  PackedWeight packed;
  packed.weight = {form, source.rows, source.cols, nullptr};
  packed.storage.resize(packed.weight.num_bytes() + 64);
  void* start = packed.storage.data();
  size_t space = packed.storage.size();
  auto* panels = static_cast<uint8_t*>(std::align(64, packed.weight.num_bytes(), start, space));
  packed.weight.panels = panels;
  for (int p = 0; p < packed.weight.num_panels(); ++p) {
    pack_panel(source, form, p, panels + static_cast<size_t>(p) * packed.weight.panel_bytes());
  }
  return packed;
}

struct QuantizedInput {
  std::vector<int16_t> q;
  Floats scale;
  std::vector<int32_t> sum;
  backend::LinearInput view(Matrix x) const { return {x, q.data(), scale.data(), sum.data()}; }
};

QuantizedInput quantize(const KernelTable& kernels, Matrix x, float levels) {
  QuantizedInput out;
  out.q.resize(static_cast<size_t>(x.rows) * x.cols);
  out.scale.resize(out.q.size() / 32);
  out.sum.resize(out.q.size() / 32);
  kernels.quantize_rows(x, 0, x.rows, levels, out.q.data(), out.scale.data(), out.sum.data());
  return out;
}

Floats run_linear(const KernelTable& kernels, const PackedWeight& packed, Matrix x, float levels,
                  const float* bias) {
  Floats out(static_cast<size_t>(x.rows) * packed.weight.rows, 7.0f);
  QuantizedInput input;
  if (backend::is_quantized(packed.weight.form)) input = quantize(kernels, x, levels);
  kernels.linear[static_cast<int>(packed.weight.form)]({packed.weight,
                                                        input.view(x),
                                                        bias,
                                                        {out.data(), x.rows, packed.weight.rows},
                                                        0,
                                                        packed.weight.num_panels()});
  return out;
}

void check_linear(DType type, int rows, int cols, int tokens, float levels) {
  std::mt19937 rng(static_cast<unsigned>(rows * 31 + cols + tokens));
  const std::vector<uint8_t> bytes = random_weight(rng, type, rows, cols);
  const PackedWeight packed = pack({type, rows, cols, bytes.data()}, *packed_form(type));
  Floats x = random_floats(rng, static_cast<size_t>(tokens) * cols, 1.0f);
  std::fill(x.begin(), x.begin() + std::min(cols, 32), 0.0f);  // one block of zeros
  const Floats bias = random_floats(rng, static_cast<size_t>(rows), 1.0f);
  const Matrix input{x.data(), tokens, cols};
  const Floats expected = run_linear(*ref_kernels(), packed, input, levels, bias.data());
  for (const KernelTable* kernels : simd_levels()) {
    WL_CHECK(same_bits(expected, run_linear(*kernels, packed, input, levels, bias.data())));
  }
  Floats row(static_cast<size_t>(cols));
  double error = 0, power = 0;
  for (int r = 0; r < rows; ++r) {
    quant::dequantize(type, bytes.data() + static_cast<size_t>(r) * row_bytes(type, cols), cols,
                      row.data());
    for (int t = 0; t < tokens; ++t) {
      double exact = bias[static_cast<size_t>(r)];
      for (int k = 0; k < cols; ++k) exact += static_cast<double>(row[k]) * input.row(t)[k];
      const double difference = expected[static_cast<size_t>(t) * rows + r] - exact;
      error += difference * difference;
      power += exact * exact;
    }
  }
  // 15-bit activations keep four digits; 8-bit ones two (spec of the formats: 1e-2).
  WL_CHECK(std::sqrt(error / power) < (levels > 1000 ? 1e-4 : 1e-2));
}

WL_TEST("cpu: products of every weight type equal the reference on every level") {
  for (const DType type : kWeightTypes) {
    const int cols = dtype_traits(type).block_elems == 256 ? 512 : 96;
    for (const int tokens : {1, 2, 3, 4, 5, 7, 8, 9, 17})
      check_linear(type, 40, cols, tokens, 16383);
    check_linear(type, 1, cols, 3, 16383);
    check_linear(type, 33, cols, 2, 127);
  }
}

WL_TEST("cpu: float products take any number of inputs") {
  for (const int cols : {1, 5, 17}) {
    check_linear(DType::kF32, 18, cols, 3, 16383);
    check_linear(DType::kF16, 18, cols, 3, 16383);
  }
}

WL_TEST("cpu: the largest integers of Q6_K do not overflow") {
  std::vector<uint8_t> bytes(row_bytes(DType::kQ6_K, 256), 0);  // ql = qh = 0: every value is -32
  std::fill(bytes.begin() + 192, bytes.begin() + 208, static_cast<uint8_t>(-128));
  bytes[209] = 0x3c;  // d = 1
  const PackedWeight packed =
      pack({DType::kQ6_K, 1, 256, bytes.data()}, *packed_form(DType::kQ6_K));
  Floats x(256, 1.0f);
  const Floats expected = run_linear(*ref_kernels(), packed, {x.data(), 1, 256}, 16383, nullptr);
  WL_CHECK(std::fabs(expected[0] - 256.0f * 32 * 128) < 1);
  for (const KernelTable* kernels : simd_levels()) {
    WL_CHECK(same_bits(expected, run_linear(*kernels, packed, {x.data(), 1, 256}, 16383, nullptr)));
  }
}

WL_TEST("cpu: activation quantisation equals the reference, also on bad values") {
  std::mt19937 rng(5);
  Floats x = random_floats(rng, 32 * 12, 3.0f);
  x[32] = INFINITY;
  x[64] = NAN;
  for (int i = 0; i < 32; ++i) x[96 + i] = 1e-42f;  // denormal: the inverse would overflow
  for (int i = 0; i < 32; ++i) x[128 + i] = 0.0f;
  const Matrix input{x.data(), 4, 96};
  const QuantizedInput expected = quantize(*ref_kernels(), input, 16383);
  WL_CHECK(std::isnan(expected.scale[1]) && std::isnan(expected.scale[2]));
  WL_CHECK_EQ(expected.scale[3], 0.0f);
  for (const KernelTable* kernels : simd_levels()) {
    const QuantizedInput got = quantize(*kernels, input, 16383);
    WL_CHECK(got.q == expected.q && got.sum == expected.sum);
    for (size_t i = 0; i < got.scale.size(); ++i) {
      WL_CHECK(std::isnan(expected.scale[i]) ? std::isnan(got.scale[i])
                                             : got.scale[i] == expected.scale[i]);
    }
  }
}

}  // namespace
}  // namespace wl::cpu
