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

using backend::kPanelRows;
using backend::WeightForm;

/// Writes one column's 16 outputs, less where the matrix ends inside the panel.
template <class V>
void store_outputs(const LinearArgs& args, int panel, int token, typename V::F value) {
  const int first = panel * kPanelRows;
  const int count = args.weight.rows - first;
  float* out = args.out.row(token) + first;
  if (count >= kPanelRows) {
    if (args.bias != nullptr) value = V::add(value, V::load(args.bias + first));
    V::store(out, value);
    return;
  }
  float lanes[kPanelRows];
  V::store(lanes, value);
  for (int i = 0; i < count; ++i) {
    out[i] = args.bias != nullptr ? lanes[i] + args.bias[first + i] : lanes[i];
  }
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

template <class V, WeightForm kForm, int kColumns>
void float_tile(const LinearArgs& args, int panel, int token) {
  const uint8_t* record = args.weight.panels + panel * args.weight.panel_bytes();
  const float* x[kColumns];
  typename V::F acc[kColumns];
  for (int c = 0; c < kColumns; ++c) {
    x[c] = args.input.x.row(token + c);
    acc[c] = V::zero();
  }
  for (int k = 0; k < args.weight.cols; ++k, record += record_bytes(kForm)) {
    const typename V::F w = load_float_weights<V, kForm>(record);
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) acc[c] = V::fma(w, V::set1(x[c][k]), acc[c]);
  }
  for (int c = 0; c < kColumns; ++c) store_outputs<V>(args, panel, token + c, acc[c]);
}

}  // namespace wl::cpu::simd
