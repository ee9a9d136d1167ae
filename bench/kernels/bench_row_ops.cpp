// The ops that work row by row: all are told in GB/s of what they read and write, so those with an
// exp or a division in them stay far from the roof by nature.

#include <cmath>
#include <numeric>

#include "level.h"
#include "random_matrix.h"
#include "random_weight.h"

namespace wl::bench {

namespace {

constexpr int kHidden = 576, kFfn = 1536, kHeadDim = 64;  // of a 135M llama
constexpr int kVocab = 49152;
constexpr float kEps = 1e-5f;

std::string name_of(const char* op, backend::Matrix m) {
  return std::string(op) + "/" + std::to_string(m.rows) + "x" + std::to_string(m.cols);
}

/// An op that reads `input_bytes` and writes `start`, or works in place on it. run(ops, out) is one
/// run.
template <class Run>
void bench_op(const Level& level, const char* op, int64_t input_bytes, bool is_in_place,
              const OwnedMatrix& start, const Run& run) {
  OwnedMatrix out = start, expected = start;
  run(level.device.ops(), out.view());
  run(level.reference, expected.view());
  Load load;
  load.set_bytes = input_bytes + start.num_bytes();
  load.bytes = load.set_bytes + (is_in_place ? start.num_bytes() : 0);
  report_case(level, name_of(op, out.view()), load, out.has_bits_of(expected),
              [&] { run(level.device.ops(), out.view()); });
}

void bench_quantize(const Level& level, int tokens, int cols) {
  OwnedMatrix x(tokens, cols, -1, 1);
  const backend::LinearInput got = level.device.ops().prepare_input(x.view(), true);
  const backend::LinearInput expected = level.reference.prepare_input(x.view(), true);
  const auto count = static_cast<size_t>(tokens) * static_cast<size_t>(cols);
  const bool is_equal = std::memcmp(got.q, expected.q, count * sizeof(int16_t)) == 0 &&
                        std::memcmp(got.scale, expected.scale, count / 32 * sizeof(float)) == 0 &&
                        std::memcmp(got.sum, expected.sum, count / 32 * sizeof(int32_t)) == 0;
  Load load;
  load.bytes = load.set_bytes = x.num_bytes() + static_cast<int64_t>(count * 2 + count / 32 * 8);
  report_case(level, name_of("quantize_rows", x.view()), load, is_equal,
              [&] { level.device.ops().prepare_input(x.view(), true); });
}

void bench_rope(const Level& level, int tokens) {
  OwnedMatrix x(tokens, kHidden, -1, 1), angle(tokens, kHeadDim / 2, 0, 3);
  OwnedMatrix cosine = angle, sine = angle;
  for (int i = 0; i < tokens * kHeadDim / 2; ++i) {
    cosine.view().data[i] = std::cos(angle.data()[i]);
    sine.view().data[i] = std::sin(angle.data()[i]);
  }
  bench_op(level, "rope", 2 * angle.num_bytes(), true, x,
           [&](backend::Ops& ops, backend::Matrix out) {
             ops.rope(out, kHeadDim, kHeadDim, false, cosine.data(), sine.data());
           });
}

struct NamedGate {
  const char* name;
  backend::MlpGate how;
};
constexpr NamedGate kGates[] = {{"gated_mlp/silu", {backend::MlpActivation::kSilu, 0}},
                                {"gated_mlp/gelu", {backend::MlpActivation::kGeluTanh, 0}},
                                {"gated_mlp/clamped", {backend::MlpActivation::kClampedSwiglu, 7}}};

void bench_gated_mlp(const Level& level, const NamedGate& gate_op, int tokens) {
  // up = gate / f(gate, 1) makes the gate its own result (nearly, with kClampedSwiglu), so that
  // running in place again and again neither grows nor sinks into denormals.
  OwnedMatrix gate(tokens, kFfn, -1.5f, -0.5f), up(tokens, kFfn), unit = gate;
  for (int i = 0; i < tokens * kFfn; ++i) up.view().data[i] = 1;
  level.reference.gated_mlp(unit.view(), up.view(), gate_op.how);
  for (int i = 0; i < tokens * kFfn; ++i) up.view().data[i] = gate.data()[i] / unit.data()[i];
  bench_op(
      level, gate_op.name, up.num_bytes(), true, gate,
      [&](backend::Ops& ops, backend::Matrix out) { ops.gated_mlp(out, up.view(), gate_op.how); });
}

/// Experts of a mixture: the choice, and the weighted sum of what they gave.
void bench_experts(const Level& level, int tokens) {
  constexpr int kExperts = 64, kUsed = 4;
  const OwnedMatrix scores(tokens, kExperts, -3, 3);
  const auto count = static_cast<size_t>(tokens) * kUsed;
  std::vector<int32_t> experts(count), rows(count);
  std::vector<float> weights(count, 0.25f);
  std::iota(rows.begin(), rows.end(), 0);
  bench_op(level, "route_experts", 0, true, scores, [&](backend::Ops& ops, backend::Matrix x) {
    ops.route_experts(x, {backend::ExpertRule::kSoftmaxThenTopNormalized, kUsed}, experts.data(),
                      weights.data());
  });
  OwnedMatrix y(tokens * kUsed, kHidden, -1, 1), x(tokens, kHidden);
  bench_op(level, "add_weighted_rows", y.num_bytes(), true, x,
           [&](backend::Ops& ops, backend::Matrix out) {
             ops.add_weighted_rows(out, y.view(), kUsed, rows.data(), weights.data());
           });
}

void bench_embed(const Level& level, const RandomWeight& table, int tokens) {
  std::vector<int32_t> ids(static_cast<size_t>(tokens));
  for (int t = 0; t < tokens; ++t) ids[static_cast<size_t>(t)] = t * 701 % kVocab;
  const OwnedMatrix out(tokens, kHidden);
  const auto row_bytes = static_cast<int64_t>(table.view().num_bytes()) / kVocab;
  bench_op(level, "embed", row_bytes * tokens, false, out,
           [&](backend::Ops& ops, backend::Matrix x) { ops.embed(x, table.view(), ids.data()); });
}

}  // namespace

void bench_row_ops(const Level& level) {
  const RandomWeight table(level.device, DType::kQ8_0, kVocab, kHidden);
  for (const int tokens : {1, 64}) {
    OwnedMatrix x(tokens, kHidden, -1, 1), weight(1, kHidden, 0.5f, 1.5f);
    bench_embed(level, table, tokens);
    bench_op(level, "rms_norm", x.num_bytes() + weight.num_bytes(), false, x,
             [&](backend::Ops& ops, backend::Matrix out) {
               ops.rms_norm(out, x.view(), weight.data(), kEps);
             });
    bench_quantize(level, tokens, kHidden);
    bench_quantize(level, tokens, kFfn);
    bench_rope(level, tokens);
    for (const NamedGate& gate : kGates) bench_gated_mlp(level, gate, tokens);
    bench_experts(level, tokens);
    bench_op(level, "soft_cap", 0, true, x,
             [&](backend::Ops& ops, backend::Matrix out) { ops.soft_cap(out, 30); });
    bench_op(level, "add", x.num_bytes(), true, x,
             [&](backend::Ops& ops, backend::Matrix out) { ops.add(out, x.view()); });
  }
}

}  // namespace wl::bench
