// `linear` of every weight type, at the matrices of a 135M llama: attention, FFN up and down, head.

#include <algorithm>
#include <iterator>

#include "level.h"
#include "random_matrix.h"
#include "random_weight.h"

namespace wl::bench {

namespace {

struct NamedType {
  const char* name;
  DType type;
};
constexpr NamedType kTypes[] = {
    {"f32", DType::kF32},    {"f16", DType::kF16},       {"bf16", DType::kBF16},
    {"q4_0", DType::kQ4_0},  {"q4_1", DType::kQ4_1},     {"q5_0", DType::kQ5_0},
    {"q5_1", DType::kQ5_1},  {"q8_0", DType::kQ8_0},     {"q2_k", DType::kQ2_K},
    {"q3_k", DType::kQ3_K},  {"q4_k", DType::kQ4_K},     {"q5_k", DType::kQ5_K},
    {"q6_k", DType::kQ6_K},  {"iq4_nl", DType::kIQ4_NL}, {"iq4_xs", DType::kIQ4_XS},
    {"mxfp4", DType::kMXFP4}};

struct Shape {
  int rows, cols;
};
constexpr Shape kShapes[] = {{576, 576}, {1536, 576}, {576, 1536}, {49152, 576}};
constexpr int kTokens[] = {1, 4, 16, 64};  // decode, small batches, a prefill chunk

/// Outputs of the first and the last panel are the reference's. All panels run the same code.
bool equals_reference(const Level& level, const backend::Weight& weight, backend::Matrix x,
                      backend::Matrix out) {
  if (level.is_reference()) return true;
  const backend::LinearInput input =
      level.reference.prepare_input(x, backend::is_quantized(weight.form));
  for (const int panel : {0, weight.num_panels() - 1}) {
    backend::Weight slice = weight;
    slice.rows = backend::kPanelRows;
    slice.panels += static_cast<size_t>(panel) * weight.panel_bytes();
    OwnedMatrix expected(x.rows, slice.rows);
    level.reference.linear({expected.view(), input, slice});
    for (int t = 0; t < x.rows; ++t) {
      const float* got = out.row(t) + panel * backend::kPanelRows;
      if (std::memcmp(got, expected.view().row(t), sizeof(float) * backend::kPanelRows) != 0) {
        return false;
      }
    }
  }
  return true;
}

std::string name_of(const NamedType& type, Shape shape, int tokens) {
  return std::string("linear/") + type.name + "/" + std::to_string(shape.rows) + "x" +
         std::to_string(shape.cols) + "/n" + std::to_string(tokens);
}

void bench_weight(const Level& level, const NamedType& type, Shape shape) {
  const auto is_wanted = [&](int tokens) { return level.wants(name_of(type, shape, tokens)); };
  if (std::none_of(std::begin(kTokens), std::end(kTokens), is_wanted)) return;
  const RandomWeight weight(level.device, type.type, shape.rows, shape.cols);
  backend::Ops& ops = level.device.ops();
  const bool is_quantized = backend::is_quantized(weight.view().form);
  for (const int tokens : kTokens) {
    OwnedMatrix x(tokens, shape.cols, -1, 1), out(tokens, shape.rows);
    Load load;
    load.macs = static_cast<int64_t>(tokens) * shape.rows * shape.cols;
    load.bytes = static_cast<int64_t>(weight.view().num_bytes()) + x.num_bytes() + out.num_bytes();
    load.set_bytes = load.bytes;
    load.is_integer = is_quantized;
    if (level.is_reference() && load.macs > kMaxReferenceMacs) continue;
    const backend::LinearInput input = ops.prepare_input(x.view(), is_quantized);
    const auto work = [&] { ops.linear({out.view(), input, weight.view()}); };
    work();
    const bool is_equal = equals_reference(level, weight.view(), x.view(), out.view());
    report_case(level, name_of(type, shape, tokens), load, is_equal, work);
  }
}

}  // namespace

void bench_linear(const Level& level) {
  for (const NamedType& type : kTypes) {
    for (const Shape& shape : kShapes) bench_weight(level, type, shape);
  }
}

}  // namespace wl::bench
