// Ops as models call them, with two threads: a row does not see its batch, and a slice of an input
// is the same rows.

#include "cpu/cpu_ops.h"

#include <algorithm>
#include <memory>

#include "backend/registry.h"
#include "check.h"
#include "levels.h"

namespace wl::cpu {
namespace {

using backend::Matrix;

std::unique_ptr<backend::Backend> open_level(const std::string& name) {
  return backend::open_cpu_backend({name, 2, backend::Activations::kWide}).value();
}

Matrix matrix(Floats& values, int cols) {
  return {values.data(), static_cast<int>(values.size()) / cols, cols};
}

}  // namespace

WL_TEST("ops: a product over a slice of the input is those rows of the whole product") {
  std::mt19937 rng(1);
  constexpr int kTokens = 11, kCols = 96, kRows = 40;
  for (const DType type : {DType::kF32, DType::kQ8_0}) {
    std::vector<uint8_t> bytes(row_bytes(type, kCols) * kRows, 0x31);
    const auto device = open_level("auto");
    backend::Weight weight{*device->form_for(type), kRows, kCols, nullptr};
    std::vector<uint8_t> panels(weight.num_bytes() + 64);
    void* start = panels.data();
    size_t space = panels.size();
    auto* aligned = static_cast<uint8_t*>(std::align(64, weight.num_bytes(), start, space));
    device->pack({type, kRows, kCols, bytes.data()}, weight.form, aligned);
    weight.panels = aligned;
    Floats x = random_floats(rng, kTokens * kCols, 1), out(kTokens * kRows), part(4 * kRows);
    const bool quantize = backend::is_quantized(weight.form);
    const backend::LinearInput input = device->ops().prepare_input(matrix(x, kCols), quantize);
    device->ops().linear({matrix(out, kRows), input, weight});
    device->ops().linear({matrix(part, kRows), input.slice(5, 4), weight});
    WL_CHECK(std::equal(part.begin(), part.end(), out.begin() + 5 * kRows));
  }
}

WL_TEST("ops: a token's experts do not depend on its batch") {
  std::mt19937 rng(2);
  constexpr int kTokens = 300, kExperts = 32, kUsed = 4;  // enough for more than one thread
  const Floats scores = random_floats(rng, kTokens * kExperts, 2);
  const backend::ExpertRouting routing{backend::ExpertRule::kSoftmaxThenTopNormalized, kUsed};
  const auto device = open_level("auto");
  std::vector<int32_t> experts(kTokens * kUsed), alone(kUsed);
  Floats weights(kTokens * kUsed), alone_weights(kUsed), all = scores;
  device->ops().route_experts(matrix(all, kExperts), routing, experts.data(), weights.data());
  for (int t = 0; t < kTokens; ++t) {
    Floats row(scores.begin() + t * kExperts, scores.begin() + (t + 1) * kExperts);
    device->ops().route_experts(matrix(row, kExperts), routing, alone.data(), alone_weights.data());
    WL_CHECK(std::equal(alone.begin(), alone.end(), experts.begin() + t * kUsed));
    WL_CHECK(std::equal(alone_weights.begin(), alone_weights.end(), weights.begin() + t * kUsed));
  }
}

WL_TEST("ops: rows that are gathered, weighted and added come back to their token") {
  std::mt19937 rng(3);
  constexpr int kTokens = 70, kCols = 80;
  Floats x = random_floats(rng, kTokens * kCols, 1), gathered(x.size());
  std::vector<int32_t> order(kTokens), back(kTokens);
  for (int t = 0; t < kTokens; ++t) {
    order[static_cast<size_t>(t)] = (t * 11 + 3) % kTokens;
    back[static_cast<size_t>((t * 11 + 3) % kTokens)] = t;
  }
  const auto device = open_level("auto");
  device->ops().gather_rows(matrix(gathered, kCols), matrix(x, kCols), order.data());
  const Floats minus_one(kTokens, -1.0f);
  device->ops().add_weighted_rows(matrix(x, kCols), matrix(gathered, kCols), 1, back.data(),
                                  minus_one.data());
  for (const float value : x) WL_CHECK_EQ(value, 0.0f);
}

WL_TEST("ops: a scale is one product an element") {
  std::mt19937 rng(4);
  Floats x = random_floats(rng, 5000, 1);
  const Floats before = x;
  open_level("auto")->ops().scale(matrix(x, 50), 0.3f);
  for (size_t i = 0; i < x.size(); ++i) WL_CHECK_EQ(x[i], before[i] * 0.3f);
}

WL_TEST("ops: a windowed step of several sequences is the reference's") {
  std::mt19937 rng(5);
  constexpr int kHeads = 4, kHeadDim = 32, kBlocks = 24;
  // 100 keys in blocks 1, 3, ... of the first sequence; 7 queries at its end and 3 of another.
  backend::KvCache cache{backend::KvDType::kF16, 1, kBlocks, 2, kHeadDim, nullptr, nullptr};
  std::vector<uint8_t> k(cache.k_bytes()), v(cache.v_bytes());
  cache.k = k.data();
  cache.v = v.data();
  Floats keys = random_floats(rng, 16 * kBlocks * 2 * kHeadDim, 1), values = keys;
  std::vector<int32_t> slots(16 * kBlocks);
  for (size_t i = 0; i < slots.size(); ++i) slots[i] = static_cast<int32_t>(i);
  Floats q = random_floats(rng, 10 * kHeads * kHeadDim, 1);
  const std::vector<int32_t> positions = {93, 94, 95, 96, 97, 98, 99, 4, 5, 6};
  const std::vector<int32_t> tables = {-1, -1, -1, -1, 9, 11, 13, 2}, starts = {0, 7, 8};
  const std::vector<int32_t> cu_seqlens_q = {0, 7, 10};
  const Floats sinks = {0.5f, -1, 2, 0};
  const backend::AttentionParams params{0.2f, 24, sinks.data()};
  const auto run = [&](const std::string& level) {
    const auto device = open_level(level);
    device->ops().store_kv(cache, 0, matrix(keys, 2 * kHeadDim), matrix(values, 2 * kHeadDim),
                           slots.data());
    Floats out(q.size());
    device->ops().paged_attention(
        matrix(out, kHeads * kHeadDim), matrix(q, kHeads * kHeadDim), cache, 0, params,
        {2, cu_seqlens_q.data(), positions.data(), tables.data(), starts.data()});
    return out;
  };
  const Floats expected = run("ref");
  for (const std::string& level : available_levels()) WL_CHECK(same_bits(expected, run(level)));
}

}  // namespace wl::cpu
