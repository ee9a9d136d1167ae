// Quantisers: the error of a round trip is at most that of the formats' reference quantiser, whose
// bytes for the same eight rows of 1024 lie in test/golden/quant, and odd blocks (zeros, one value,
// damage) stay what they are.

#include "quant/quantize.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "check.h"
#include "golden_file.h"
#include "quant/dequantize.h"

using wl::DType;

namespace {

constexpr DType kTypes[] = {DType::kQ8_0, DType::kQ5_0, DType::kQ4_0, DType::kQ4_K};
constexpr int kRows = 8, kCols = 1024;
// Single rows of Q4_K are up to 1.1 % worse (its mean is better); the others are 2 to 10 % better.
constexpr double kSlack = 1.02;

std::vector<float> dequantized(DType type, const uint8_t* bytes, int count) {
  std::vector<float> values(static_cast<size_t>(count));
  wl::quant::dequantize(type, bytes, count, values.data());
  return values;
}

std::vector<float> round_trip(DType type, const std::vector<float>& values) {
  const auto count = static_cast<int>(values.size());
  std::vector<uint8_t> bytes(wl::row_bytes(type, count));
  wl::quant::quantize(type, values.data(), count, bytes.data());
  return dequantized(type, bytes.data(), count);
}

double rms_error(const float* a, const float* b, int count) {
  double squares = 0;
  for (int i = 0; i < count; ++i) squares += std::pow(double{a[i]} - double{b[i]}, 2);
  return std::sqrt(squares / count);
}

}  // namespace

WL_TEST("quant: a round trip errs hardly more than the reference quantiser's") {
  const auto input = wl::test::read_file(wl::test::golden_path("quant/input.f32"));
  WL_CHECK(input.has_value());
  if (!input) return;
  std::vector<float> values(static_cast<size_t>(kRows * kCols));
  WL_CHECK_EQ(input->size(), values.size() * sizeof(float));
  std::memcpy(values.data(), input->data(), input->size());
  for (const DType type : kTypes) {
    const std::string name = wl::dtype_traits(type).name;
    const auto golden = wl::test::read_file(wl::test::golden_path("quant/" + name + ".bin"));
    WL_CHECK(golden.has_value());
    if (!golden) continue;
    const auto reference =
        dequantized(type, reinterpret_cast<const uint8_t*>(golden->data()), kRows * kCols);
    const auto ours = round_trip(type, values);
    for (int row = 0; row < kRows; ++row) {
      const float* x = values.data() + row * kCols;
      const double bound = rms_error(reference.data() + row * kCols, x, kCols);
      const double error = rms_error(ours.data() + row * kCols, x, kCols);
      WL_CHECK(error <= kSlack * bound);
    }
  }
}

WL_TEST("quant: zeros and a single value come back; a tiny block comes back as tiny numbers") {
  for (const DType type : kTypes) {
    std::vector<float> values(256, 0.0f);
    for (const float value : round_trip(type, values)) WL_CHECK_EQ(value, 0.0f);
    for (const float constant : {1.0f, -1.0f, 0.5f}) {
      values.assign(256, constant);
      for (const float value : round_trip(type, values)) {
        WL_CHECK(std::fabs(value - constant) <= std::fabs(constant) * 0x1p-10f);
      }
    }
    values.assign(256, 1e-40f);
    for (const float value : round_trip(type, values)) WL_CHECK(std::fabs(value) < 1e-7f);
  }
}

WL_TEST("quant: values that are not finite, or too large for the format, give NaN") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const DType type : kTypes) {
    for (const float bad : {kInfinity, -kInfinity, std::nanf(""), 3e38f, -3e38f}) {
      std::vector<float> values(256, 0.25f);
      values[100] = bad;
      WL_CHECK(std::isnan(round_trip(type, values)[100]));
    }
  }
}

WL_TEST("quant: only types with a quantiser can be asked for") {
  for (const DType type : kTypes) WL_CHECK(wl::quant::can_quantize(type));
  for (const DType type : {DType::kF32, DType::kBF16, DType::kQ6_K, DType::kMXFP4}) {
    WL_CHECK(!wl::quant::can_quantize(type));
  }
}
