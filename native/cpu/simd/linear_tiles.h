#pragma once
// Tiles of matrix products over packed panels, written once for every instruction set: what they
// share, and those of float weights.
//
// V is a vector type of 16 lanes (cpu/avx2/vec_avx2.h, cpu/avx512/vec_avx512.h); it lives in an
// unnamed namespace of the file that instantiates these templates, so nothing here has external
// linkage. A tile is one panel (16 outputs) times kColumns tokens: every weight vector is loaded
// and widened once for all its columns, every output has its own lane. Equal to ref::linear bit for
// bit.

#include "cpu/kernels.h"

namespace wl::cpu::simd {

// Accumulators are arrays that must live in registers: a call in between would spill them all, and
// so does gcc with an array that is indexed by a loop which is not unrolled.
#define WL_INLINE __attribute__((always_inline)) inline

using backend::kPanelRows;
using backend::WeightForm;

/// The outputs of a panel inside which the matrix ends. (On V only to keep it inside this file's
/// instruction set.)
template <class V>
__attribute__((noinline)) void store_last_outputs(const LinearArgs& args, int panel, int token,
                                                  const float* lanes) {
  const int first = panel * kPanelRows;
  float* out = args.out.row(token);
  for (int i = first; i < args.weight.rows; ++i) {
    out[i] = args.bias != nullptr ? lanes[i - first] + args.bias[i] : lanes[i - first];
  }
}

/// Writes one column's 16 outputs, less where the matrix ends inside the panel.
template <class V>
WL_INLINE void store_outputs(const LinearArgs& args, int panel, int token, typename V::F value) {
  const int first = panel * kPanelRows;
  if (args.weight.rows - first < kPanelRows) {
    float lanes[kPanelRows];
    V::store(lanes, value);
    return store_last_outputs<V>(args, panel, token, lanes);
  }
  if (args.bias != nullptr) value = V::add(value, V::load(args.bias + first));
  V::store(args.out.row(token) + first, value);
}

template <class V, WeightForm kForm>
typename V::F load_float_weights(const uint8_t* record) {
  if constexpr (kForm == WeightForm::kF32) {
    return V::load(reinterpret_cast<const float*>(record));
  } else if constexpr (kForm == WeightForm::kF16) {
    return V::load_f16(record);
  } else {
    return V::load_bf16(record);
  }
}

/// kColumns tokens times kPanels panels. One token alone takes several panels at once: the chain of
/// multiply-adds of a single one would wait for each of them.
template <class V, WeightForm kForm, int kColumns, int kPanels = 1>
void float_tile(const LinearArgs& args, int panel, int token) {
  const size_t panel_bytes = args.weight.panel_bytes();
  const uint8_t* record = args.weight.panels + panel * panel_bytes;
  const float* x[kColumns];
  typename V::F acc[kPanels][kColumns];
  for (int c = 0; c < kColumns; ++c) {
    x[c] = args.input.x.row(token + c);
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) acc[p][c] = V::zero();
  }
  const int cols = args.weight.cols;
  for (int k = 0; k < cols; ++k, record += record_bytes(kForm)) {
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) {
      const typename V::F w = load_float_weights<V, kForm>(record + p * panel_bytes);
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) acc[p][c] = V::fma(w, V::set1(x[c][k]), acc[p][c]);
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) store_outputs<V>(args, panel + p, token + c, acc[p][c]);
  }
}

}  // namespace wl::cpu::simd
