#pragma once
// The reduction rule of backend/ops.h in scalar form: 16 lanes, then a fixed tree.

namespace wl::cpu::ref {

constexpr int kLanes = 16;

/// Adds 16 lanes: j + (j + 8), then 4, 2, 1.
inline float lane_tree_sum(const float lanes[kLanes]) {
  float level[kLanes];
  for (int j = 0; j < kLanes; ++j) level[j] = lanes[j];
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) level[j] = level[j] + level[j + half];
  }
  return level[0];
}

/// e^x by the operations of cpu/exp_poly.h.
float exp_scalar(float x);

}  // namespace wl::cpu::ref
