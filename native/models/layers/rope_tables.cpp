#include "models/layers/rope_tables.h"

#include <cmath>

namespace wl::models {

namespace {

std::vector<float> inverse_frequencies(const RopeConfig& rope, int context) {
  std::vector<float> inv_freq = rope.inv_freq;
  const std::vector<float>& factors =
      uses_long_factors(rope, context) ? rope.long_factors : rope.short_factors;
  for (size_t i = 0; i < factors.size(); ++i) inv_freq[i] /= factors[i];
  return inv_freq;
}

}  // namespace

bool uses_long_factors(const RopeConfig& rope, int context) {
  return !rope.long_factors.empty() && context > rope.original_context;
}

std::string rope_choice(const ModelConfig& config, int context) {
  std::string choice;
  for (const RopeConfig& rope : config.ropes) {
    if (rope.long_factors.empty()) continue;
    choice += uses_long_factors(rope, context) ? "|longrope-long" : "|longrope-short";
  }
  return choice;
}

RopeTables::RopeTables(const ModelConfig& config, int context) : config_(config) {
  for (const RopeConfig& rope : config.ropes) {
    tables_.push_back({inverse_frequencies(rope, context), {}, {}});
  }
}

void RopeTables::set_positions(const int32_t* positions, int num_tokens) {
  for (size_t r = 0; r < tables_.size(); ++r) {
    Table& table = tables_[r];
    const float magnitude = config_.ropes[r].magnitude;
    table.cos.clear();
    table.sin.clear();
    for (int t = 0; t < num_tokens; ++t) {
      const auto position = static_cast<float>(positions[t]);
      for (const float inv_freq : table.inv_freq) {
        // The angle is a float32 product, as models were trained; its cosine is exact.
        const auto angle = static_cast<double>(position * inv_freq);
        table.cos.push_back(static_cast<float>(std::cos(angle)) * magnitude);
        table.sin.push_back(static_cast<float>(std::sin(angle)) * magnitude);
      }
    }
  }
}

void RopeTables::rotate(backend::Ops& ops, backend::Matrix x, int rope) const {
  const RopeConfig& config = config_.ropes[static_cast<size_t>(rope)];
  const Table& table = tables_[static_cast<size_t>(rope)];
  ops.rope(x, config_.head_dim, config.rotary_dims, config.pairing == RopePairing::kAdjacent,
           table.cos.data(), table.sin.data());
}

}  // namespace wl::models
