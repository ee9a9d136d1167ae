// Products: every kernel of every level this CPU has equals the scalar reference bit for bit, and
// the reference agrees with float64 arithmetic on dequantised weights.

#include <cmath>
#include <memory>

#include "base/json.h"
#include "check.h"
#include "cpu/pack.h"
#include "cpu/panel_reader.h"
#include "golden_file.h"
#include "levels.h"
#include "quant/dequantize.h"

namespace wl::cpu {
namespace {

using backend::Matrix;
using backend::WeightSource;

const DType kWeightTypes[] = {DType::kF32,  DType::kF16,    DType::kBF16,   DType::kQ4_0,
                              DType::kQ4_1, DType::kQ5_0,   DType::kQ5_1,   DType::kQ8_0,
                              DType::kQ2_K, DType::kQ3_K,   DType::kQ4_K,   DType::kQ5_K,
                              DType::kQ6_K, DType::kIQ4_NL, DType::kIQ4_XS, DType::kMXFP4};

/// Where the binary16 fields of a block lie; the types without any are left out.
std::vector<size_t> half_offsets(DType type) {
  switch (type) {
    case DType::kQ4_0:
    case DType::kQ5_0:
    case DType::kQ8_0:
    case DType::kIQ4_NL:
    case DType::kIQ4_XS:
      return {0};
    case DType::kQ4_1:
    case DType::kQ5_1:
    case DType::kQ4_K:
    case DType::kQ5_K:
      return {0, 2};
    case DType::kQ2_K:
      return {80, 82};
    case DType::kQ3_K:
      return {108};
    case DType::kQ6_K:
      return {208};
    default:
      return {};
  }
}

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
    for (const size_t offset : half_offsets(type)) {
      const float value = std::uniform_real_distribution<float>(-0.015f, 0.015f)(rng);
      const uint16_t half = quant::f32_to_f16(value);
      std::memcpy(&bytes[at + offset], &half, 2);
    }
    if (type == DType::kMXFP4) bytes[at] = static_cast<uint8_t>(118 + bytes[at] % 8);
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
  std::vector<int32_t> sum, low_sum;
  Floats scaled_sum;
  std::vector<int8_t> q8, q_high, q_low;
  backend::LinearInput view(Matrix x) const {
    const auto bytes_or_null = [](const auto& v) { return v.empty() ? nullptr : v.data(); };
    return {x,
            q.data(),
            scale.data(),
            sum.data(),
            low_sum.data(),
            scaled_sum.data(),
            bytes_or_null(q8),
            bytes_or_null(q_high),
            bytes_or_null(q_low)};
  }
};

QuantizedInput quantize(const KernelTable& kernels, Matrix x, float levels) {
  QuantizedInput out;
  out.q.resize(static_cast<size_t>(x.rows) * x.cols);
  out.scale.resize(out.q.size() / 32);
  out.sum.resize(out.q.size() / 32);
  out.low_sum.resize(out.q.size() / 32);
  out.scaled_sum.resize(out.q.size() / 32);
  if (levels <= 127) {
    out.q8.resize(out.q.size());
  } else if (kernels.splits_inputs) {
    for (auto* bytes : {&out.q_high, &out.q_low}) bytes->resize(out.q.size());
  }
  const auto bytes_or_null = [](auto& v) { return v.empty() ? nullptr : v.data(); };
  kernels.quantize_rows(
      x, 0, x.rows, levels,
      {out.q.data(), out.scale.data(), out.sum.data(), out.low_sum.data(), out.scaled_sum.data(),
       bytes_or_null(out.q8), bytes_or_null(out.q_high), bytes_or_null(out.q_low)});
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

/// What rounding inputs to 15 or 8 bits may change of a product, as a part of the sum of the
/// magnitudes of its terms.
double input_tolerance(float levels) { return levels > 1000 ? 1e-4 : 1e-2; }

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
  for (int r = 0; r < rows; ++r) {
    quant::dequantize(type, bytes.data() + static_cast<size_t>(r) * row_bytes(type, cols), cols,
                      row.data());
    for (int t = 0; t < tokens; ++t) {
      double exact = bias[static_cast<size_t>(r)], size = std::fabs(exact);
      for (int k = 0; k < cols; ++k) {
        const double product = static_cast<double>(row[k]) * input.row(t)[k];
        exact += product;
        size += std::fabs(product);
      }
      const double error = std::fabs(expected[static_cast<size_t>(t) * rows + r] - exact);
      WL_CHECK(error < input_tolerance(levels) * size);
    }
  }
}

WL_TEST("cpu: products of every weight type equal the reference on every level") {
  for (const DType type : kWeightTypes) {
    const int cols = dtype_traits(type).block_elems == 256 ? 512 : 96;
    for (const int tokens : {1, 2, 3, 4, 5, 7, 8, 9, 12, 17, 33})
      check_linear(type, 40, cols, tokens, 16383);
    check_linear(type, 1, cols, 3, 16383);
    for (const int tokens : {1, 2, 7, 17}) check_linear(type, 33, cols, tokens, 127);
  }
}

WL_TEST("cpu: products of many tokens and inputs equal the reference on every level") {
  for (const DType type : {DType::kQ4_K, DType::kQ6_K}) check_linear(type, 17, 1280, 81, 16383);
  for (const DType type : {DType::kQ4_0, DType::kQ5_1, DType::kQ8_0}) {
    check_linear(type, 17, 1088, 81, 16383);
    check_linear(type, 17, 1088, 81, 127);
  }
}

WL_TEST("cpu: float products take any number of inputs") {
  for (const int cols : {1, 5, 17}) {
    check_linear(DType::kF32, 18, cols, 3, 16383);
    check_linear(DType::kF16, 18, cols, 3, 16383);
  }
}

/// A block of the largest integers that a type has, d = 1, and the sum of its 256 values.
struct LargestBlock {
  DType type;
  std::vector<uint8_t> bytes;
  double sum;
};

std::vector<LargestBlock> largest_blocks() {
  const auto block = [](DType type, double sum, size_t scale_at, std::vector<uint8_t> bytes) {
    bytes[scale_at] = 0;
    bytes[scale_at + 1] = 0x3c;  // 1 as binary16
    return LargestBlock{type, std::move(bytes), sum};
  };
  const auto filled = [](DType type, uint8_t byte) {
    return std::vector<uint8_t>(row_bytes(type, 256), byte);
  };
  std::vector<uint8_t> q6_k = filled(DType::kQ6_K, 0);  // every value is -32
  std::fill(q6_k.begin() + 192, q6_k.begin() + 208, static_cast<uint8_t>(-128));
  std::vector<uint8_t> q2_k = filled(DType::kQ2_K, 0xff);
  q2_k[82] = q2_k[83] = 0x3c;  // dmin, just above 1
  const double dmin = quant::f16_to_f32(0x3c3c);
  const auto with_scales = [&](DType type, std::vector<uint8_t> bytes) {
    for (size_t at = 0; at < bytes.size();
         at += static_cast<size_t>(dtype_traits(type).block_bytes)) {
      bytes[at] = 0;
      bytes[at + 1] = 0x3c;
    }
    return bytes;
  };
  const std::vector<uint8_t> q4_0 = with_scales(DType::kQ4_0, filled(DType::kQ4_0, 0xff));
  const std::vector<uint8_t> q8_0 = with_scales(DType::kQ8_0, filled(DType::kQ8_0, 0x80));
  return {block(DType::kQ6_K, 256.0 * 32 * 128, 208, q6_k),
          block(DType::kQ2_K, 256.0 * (15 * 3 - dmin * 15), 80, q2_k),
          block(DType::kQ4_0, 256.0 * 7, 0, q4_0),
          block(DType::kQ8_0, 256.0 * -128, 0, q8_0),
          block(DType::kQ3_K, 256.0 * -32 * -4, 108, filled(DType::kQ3_K, 0)),
          block(DType::kIQ4_XS, 256.0 * -32 * -127, 0, filled(DType::kIQ4_XS, 0))};
}

WL_TEST("cpu: the largest integers of a type do not overflow") {
  const int rows = 17;         // of the same input: a tile of any level, and a row of its own
  Floats x(256 * rows, 1.0f);  // quantised to the largest activation
  const Matrix input{x.data(), rows, 256};
  for (const LargestBlock& block : largest_blocks()) {
    const PackedWeight packed =
        pack({block.type, 1, 256, block.bytes.data()}, *packed_form(block.type));
    for (const float levels : {16383.0f, 127.0f}) {
      const Floats expected = run_linear(*ref_kernels(), packed, input, levels, nullptr);
      for (const float value : expected) {
        WL_CHECK(std::fabs(value - block.sum) < 1e-6 * std::fabs(block.sum));
      }
      for (const KernelTable* kernels : simd_levels()) {
        WL_CHECK(same_bits(expected, run_linear(*kernels, packed, input, levels, nullptr)));
      }
    }
  }
}

constexpr int kGoldenRows = 8, kGoldenCols = 1024;

std::string golden_bytes(const std::string& name) {
  const auto bytes = test::read_file(test::golden_path("quant/" + name));
  WL_CHECK(bytes.has_value());
  return bytes.value_or("");
}

std::vector<double> numbers(const JsonValue& list) {
  std::vector<double> values;
  for (const JsonValue& value : *list.as_array()) values.push_back(value.as_number().value_or(0));
  return values;
}

WL_TEST("cpu: products of the golden rows are the golden ones, and packing loses nothing") {
  const auto golden = parse_json(golden_bytes("matvec.json"));
  WL_CHECK(golden.ok());
  if (!golden.ok()) return;
  Floats x(kGoldenCols);
  std::memcpy(x.data(), golden_bytes("x.f32").data(), sizeof(float) * x.size());
  for (const DType type : kWeightTypes) {
    const std::string name = dtype_traits(type).name;
    const JsonValue* entry = golden.value().find(name);
    if (entry == nullptr) continue;  // F32 needs no file
    const std::string file = golden_bytes(name + ".bin");
    const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
    const PackedWeight packed = pack({type, kGoldenRows, kGoldenCols, bytes}, *packed_form(type));
    Floats dequantized(kGoldenRows * kGoldenCols), read = dequantized;
    quant::dequantize(type, bytes, kGoldenRows * kGoldenCols, dequantized.data());
    for (int r = 0; r < kGoldenRows; ++r) {
      const PanelRow row(packed.weight, r);
      for (int k = 0; k < kGoldenCols; ++k) {
        read[static_cast<size_t>(r) * kGoldenCols + k] = row.value_at(k);
      }
    }
    WL_CHECK(read == dequantized);
    const std::vector<double> exact = numbers(*entry->find("matvec"));
    const std::vector<double> size = numbers(*entry->find("dot_scale"));
    for (const std::string& level : available_levels()) {
      for (const float levels : {16383.0f, 127.0f}) {
        const Floats out = run_linear(*kernels_for(level).value(), packed,
                                      {x.data(), 1, kGoldenCols}, levels, nullptr);
        for (size_t r = 0; r < out.size(); ++r) {
          WL_CHECK(std::fabs(out[r] - exact[r]) < input_tolerance(levels) * size[r]);
        }
      }
    }
  }
}

WL_TEST("cpu: the smallest MXFP4 scales multiply as denormals on every level") {
  std::vector<uint8_t> bytes(row_bytes(DType::kMXFP4, 64), 0x77);
  bytes[0] = 0;
  bytes[17] = 1;
  const PackedWeight packed =
      pack({DType::kMXFP4, 1, 64, bytes.data()}, *packed_form(DType::kMXFP4));
  Floats x(64, 1.0f);
  const Floats expected = run_linear(*ref_kernels(), packed, {x.data(), 1, 64}, 16383, nullptr);
  WL_CHECK(expected[0] > 0x1p-121f && expected[0] < 0x1p-117f);
  for (const KernelTable* kernels : simd_levels()) {
    WL_CHECK(same_bits(expected, run_linear(*kernels, packed, {x.data(), 1, 64}, 16383, nullptr)));
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
    WL_CHECK(got.q == expected.q && got.sum == expected.sum && got.low_sum == expected.low_sum);
    for (size_t i = 0; i < got.scale.size(); ++i) {
      WL_CHECK(std::isnan(expected.scale[i]) ? std::isnan(got.scale[i])
                                             : got.scale[i] == expected.scale[i]);
    }
  }
}

}  // namespace
}  // namespace wl::cpu
