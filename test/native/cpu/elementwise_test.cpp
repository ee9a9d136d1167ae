// Operations element by element and row by row: every level equals the scalar reference bit for
// bit, and the reference agrees with float64 arithmetic.

#include <algorithm>
#include <cmath>

#include "check.h"
#include "levels.h"

namespace wl::cpu {
namespace {

using backend::MlpActivation;
using backend::MlpGate;

const int kLengths[] = {1, 15, 16, 17, 96, 577};

/// `run(kernels)` gives the same bits on every level; returns the reference's.
template <class Run>
Floats same_on_all_levels(const Run& run) {
  const Floats expected = run(*ref_kernels());
  for (const KernelTable* kernels : simd_levels()) {
    WL_CHECK(same_bits(expected, run(*kernels)));
  }
  return expected;
}

double gated_exact(const MlpGate& how, double g, double u) {
  switch (how.kind) {
    case MlpActivation::kSilu:
      return g / (1 + std::exp(-g)) * u;
    case MlpActivation::kGeluTanh:
      return g * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g))) * u;
    case MlpActivation::kClampedSwiglu:
      g = std::min<double>(g, how.limit);
      u = std::clamp<double>(u, -how.limit, how.limit);
      return g / (1 + std::exp(-1.702 * g)) * (u + 1);
  }
  return 0;
}

}  // namespace

WL_TEST("cpu: the norm equals the reference at odd lengths") {
  std::mt19937 rng(6);
  for (const int cols : kLengths) {
    const Floats x = random_floats(rng, static_cast<size_t>(cols), 20.0f);
    const Floats w = random_floats(rng, static_cast<size_t>(cols), 1.0f);
    same_on_all_levels([&](const KernelTable& kernels) {
      Floats out(x.size());
      kernels.rms_norm_row(out.data(), x.data(), w.data(), cols, 1e-5f);
      return out;
    });
  }
}

WL_TEST("cpu: gated MLPs equal the reference, which equals their formulas") {
  std::mt19937 rng(7);
  const MlpGate gates[] = {
      {MlpActivation::kSilu, 0}, {MlpActivation::kGeluTanh, 0}, {MlpActivation::kClampedSwiglu, 7}};
  for (const MlpGate& how : gates) {
    for (const int cols : kLengths) {
      const Floats gate = random_floats(rng, static_cast<size_t>(cols), 6.0f);
      const Floats up = random_floats(rng, static_cast<size_t>(cols), 6.0f);
      const Floats out = same_on_all_levels([&](const KernelTable& kernels) {
        Floats x = gate;
        kernels.gated_mlp(x.data(), up.data(), cols, how);
        return x;
      });
      for (size_t i = 0; i < out.size(); ++i) {
        const double exact = gated_exact(how, gate[i], up[i]);
        // The exponent is below 90 where it matters and rounded to 24 bits; 1 + tanh in float64
        // leaves an absolute error.
        WL_CHECK(std::fabs(out[i] - exact) <= 1e-5 * std::fabs(exact) + 1e-13);
      }
    }
  }
}

WL_TEST("cpu: a gated MLP of extreme values stays finite") {
  for (const auto kind :
       {MlpActivation::kSilu, MlpActivation::kGeluTanh, MlpActivation::kClampedSwiglu}) {
    const Floats out = same_on_all_levels([&](const KernelTable& kernels) {
      Floats gate = {-1e20f, -300, -0.0f, 0, 1e-30f, 300, 1e20f};
      const Floats up(gate.size(), 2.0f);
      kernels.gated_mlp(gate.data(), up.data(), static_cast<int64_t>(gate.size()), {kind, 7});
      return gate;
    });
    for (const float value : out) WL_CHECK(std::isfinite(value));
    WL_CHECK(std::fabs(out[0]) < 1e-10f && out[3] == 0 && out[6] > 20);
  }
}

WL_TEST("cpu: soft cap equals the reference, which equals its formula") {
  std::mt19937 rng(8);
  for (const int cols : kLengths) {
    const Floats x = random_floats(rng, static_cast<size_t>(cols), 40.0f);
    const Floats out = same_on_all_levels([&](const KernelTable& kernels) {
      Floats y = x;
      kernels.soft_cap(y.data(), 30, cols);
      return y;
    });
    for (size_t i = 0; i < out.size(); ++i) {
      WL_CHECK(std::fabs(out[i] - 30 * std::tanh(x[i] / 30.0)) < 30 * 2e-7);
    }
  }
}

WL_TEST("cpu: scaled sums equal the reference, which rounds once") {
  std::mt19937 rng(9);
  for (const int cols : kLengths) {
    const Floats x = random_floats(rng, static_cast<size_t>(cols), 1.0f);
    const Floats y = random_floats(rng, static_cast<size_t>(cols), 1.0f);
    for (const float scale : {1.0f, 0.22f}) {
      const Floats out = same_on_all_levels([&](const KernelTable& kernels) {
        Floats sum = x;
        kernels.add_scaled(sum.data(), y.data(), scale, cols);
        return sum;
      });
      WL_CHECK_EQ(out[0], std::fma(y[0], scale, x[0]));
    }
  }
}

WL_TEST("cpu: weighted rows of experts equal the reference") {
  std::mt19937 rng(10);
  for (const int cols : kLengths) {
    Floats y = random_floats(rng, static_cast<size_t>(cols) * 5, 1.0f);
    const Floats x = random_floats(rng, static_cast<size_t>(cols), 1.0f);
    const int32_t rows[] = {4, 0, 3};
    const float weights[] = {0.5f, 0.3f, 0.2f};
    const Floats out = same_on_all_levels([&](const KernelTable& kernels) {
      Floats sum = x;
      kernels.add_weighted_row(sum.data(), {y.data(), 5, cols}, 3, rows, weights);
      return sum;
    });
    const auto at = [&](int row) { return y[static_cast<size_t>(row) * cols]; };
    const float chain = std::fma(0.2f, at(3), std::fma(0.3f, at(0), 0.5f * at(4)));
    WL_CHECK_EQ(out[0], x[0] + chain);
  }
}

}  // namespace wl::cpu
