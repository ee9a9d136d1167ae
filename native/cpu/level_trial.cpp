#include "cpu/level_trial.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <vector>

#include "base/aligned_buffer.h"
#include "cpu/cpu_ops.h"

namespace wl::cpu {

namespace {

using backend::ActivationWidth;
using backend::WeightForm;
using Random = std::minstd_rand;

constexpr int kTokens = 64, kInputs = 512, kOutputs = 64, kRepetitions = 5;

/// Those of the quantised forms that the levels multiply differently.
std::vector<WeightForm> contested_forms(const KernelTable& base, const KernelTable& candidate) {
  std::vector<WeightForm> forms;
  for (int i = 0; i < backend::kNumWeightForms; ++i) {
    const auto form = static_cast<WeightForm>(i);
    if (backend::is_quantized(form) && base.linear[i] != candidate.linear[i]) forms.push_back(form);
  }
  return forms;
}

/// Any integers are good ones, but sub-scales of whole blocks are 0..63. Scales and minimums get
/// bytes that are ordinary positive numbers, as float16 and as float32.
void fill_panels(Random& rng, WeightForm form, uint8_t* panels, size_t num_bytes) {
  const backend::RecordLayout layout = backend::record_layout(form);
  for (size_t i = 0; i < num_bytes; ++i) panels[i] = static_cast<uint8_t>(rng() >> 8);
  const auto record_bytes = static_cast<size_t>(backend::record_bytes(form));
  for (size_t record = 0; record < num_bytes; record += record_bytes) {
    uint8_t* const bytes = panels + record;
    std::generate_n(bytes, layout.sub_scale_offset(), [&] { return 0x18 + (rng() >> 8) % 0x20; });
    const bool is_block = layout.sub_scale == backend::SubScale::kBlock;
    for (int i = layout.sub_scale_offset(); is_block && i < layout.quant_offset(); ++i)
      bytes[i] %= 64;
  }
}

/// One product at both levels.
class Contest {
 public:
  Contest(const KernelTable& base, const KernelTable& candidate, ActivationWidth width)
      : base_(base, 1, width), candidate_(candidate, 1, width) {
    Random rng(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& x : x_) x = uniform(rng);
  }
  bool is_equal(const backend::Weight& weight) {
    multiply(base_, weight, expected_);
    multiply(candidate_, weight, out_);
    return std::memcmp(expected_.data(), out_.data(), out_.size() * sizeof(float)) == 0;
  }
  void add_times(const backend::Weight& weight, LevelTrial* trial) {
    trial->base_seconds += least_seconds(base_, weight);
    trial->candidate_seconds += least_seconds(candidate_, weight);
  }

 private:
  void multiply(CpuOps& ops, const backend::Weight& weight, std::vector<float>& out) {
    const backend::LinearInput input = ops.prepare_input({x_.data(), kTokens, kInputs}, true);
    const backend::Product product{{out.data(), kTokens, kOutputs}, input, weight};
    ops.linear({&product, 1});
  }
  double least_seconds(CpuOps& ops, const backend::Weight& weight) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRepetitions; ++i) {
      const auto start = std::chrono::steady_clock::now();
      multiply(ops, weight, out_);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      least = std::min(least, taken.count());
    }
    return least;
  }

  CpuOps base_, candidate_;
  std::vector<float> x_ = std::vector<float>(kTokens * kInputs);
  std::vector<float> expected_ = std::vector<float>(kTokens * kOutputs), out_ = expected_;
};

}  // namespace

LevelTrial try_level(const KernelTable& base, const KernelTable& candidate) {
  LevelTrial trial{true};
  Contest wide(base, candidate, ActivationWidth::kWide);
  Contest int8(base, candidate, ActivationWidth::kInt8);
  Random rng(11);
  for (const WeightForm form : contested_forms(base, candidate)) {
    backend::Weight weight{form, kOutputs, kInputs, nullptr};
    AlignedBuffer panels;
    if (!panels.allocate(weight.num_bytes())) throw std::bad_alloc();
    fill_panels(rng, form, panels.data(), weight.num_bytes());
    weight.panels = panels.data();
    trial.is_equal = trial.is_equal && wide.is_equal(weight) && int8.is_equal(weight);
    wide.add_times(weight, &trial);
  }
  return trial;
}

}  // namespace wl::cpu
