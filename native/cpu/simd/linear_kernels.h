#pragma once
// Matrix products over packed panels, written once for every instruction set.
//
// V is a vector type of 16 lanes (cpu/avx2/vec_avx2.h, cpu/avx512/vec_avx512.h); it lives in an
// unnamed namespace of the file that instantiates these templates, so nothing here has external
// linkage. A tile is one panel (16 outputs) times kColumns tokens: every weight vector is loaded
// and widened once for all its columns, every output has its own lane. Equal to ref::linear bit for
// bit.

#include "cpu/kernels.h"

namespace wl::cpu::simd {

// Accumulators are arrays that must live in registers: a call in between would spill them all.
#define WL_INLINE __attribute__((always_inline)) inline

using backend::kBlockInputs;
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

// --- float weights -----------------------------------------------------------------------------

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

// --- quantised weights -------------------------------------------------------------------------

// How far ahead a streamed panel is fetched: the hardware alone reaches half of the read rate on
// these records. 1 to 6 KiB do equally well; without it decode is a fifth slower (bench/engine).
constexpr int kPrefetchBytes = 3072;

/// dot[c] += products of inputs [kBegin, kEnd) of one block; `q[c]` points at the block's inputs.
template <class V, bool kIsNibble, int kBegin, int kEnd, int kColumns>
WL_INLINE void add_products(const uint8_t* quants, const int16_t* const* q, int64_t offset,
                            typename V::I* dot) {
  constexpr int kStep = kIsNibble ? 4 : 2;  // inputs in 32 bytes
#pragma GCC unroll 16
  for (int k = kBegin; k < kEnd; k += kStep) {
    const uint8_t* bytes = quants + k / kStep * 32;
    if constexpr (kIsNibble) {
      typename V::W low, high;
      V::unpack_nibbles(bytes, &low, &high);
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) {
        dot[c] = V::dot_pairs(dot[c], low, q[c] + offset + k);
        dot[c] = V::dot_pairs(dot[c], high, q[c] + offset + k + 2);
      }
    } else {
      const typename V::W w = V::load_bytes(bytes);
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) dot[c] = V::dot_pairs(dot[c], w, q[c] + offset + k);
    }
  }
}

template <class V, WeightForm kForm, int kColumns>
WL_INLINE void block_dots(const uint8_t* record, const int16_t* const* q, const int32_t* const* sum,
                          int b, typename V::I* dot) {
  constexpr backend::RecordLayout kLayout = backend::record_layout(kForm);
  const uint8_t* quants = record + kLayout.quant_offset();
  const int64_t offset = static_cast<int64_t>(b) * kBlockInputs;
  for (int c = 0; c < kColumns; ++c) {
    // Nibbles are stored 0..15; the form's centre of 8 enters as a start value.
    dot[c] = kForm == WeightForm::kNibble ? V::iset1(-8 * sum[c][b]) : V::izero();
  }
  if constexpr (!kLayout.has_sub_scale) {
    add_products<V, kLayout.is_nibble, 0, kBlockInputs, kColumns>(quants, q, offset, dot);
  } else {
    typename V::I second[kColumns];
    for (int c = 0; c < kColumns; ++c) second[c] = V::izero();
    add_products<V, false, 0, 16, kColumns>(quants, q, offset, dot);
    add_products<V, false, 16, 32, kColumns>(quants, q, offset, second);
    const typename V::I scale0 = V::load_i8(record + kLayout.sub_scale_offset());
    const typename V::I scale1 = V::load_i8(record + kLayout.sub_scale_offset() + kPanelRows);
    for (int c = 0; c < kColumns; ++c) {
      dot[c] = V::iadd(V::imul(dot[c], scale0), V::imul(second[c], scale1));
    }
  }
}

template <class V, int kScaleBytes>
typename V::F load_scales(const uint8_t* scales) {
  if constexpr (kScaleBytes == 4) {
    return V::load(reinterpret_cast<const float*>(scales));
  } else {
    return V::load_f16(scales);
  }
}

template <class V, WeightForm kForm, int kColumns>
void quantized_tile(const LinearArgs& args, int panel, int token) {
  constexpr backend::RecordLayout kLayout = backend::record_layout(kForm);
  const int num_blocks = args.weight.cols / kBlockInputs;
  const uint8_t* record = args.weight.panels + panel * args.weight.panel_bytes();
  const int16_t* q[kColumns];
  const float* scale[kColumns];
  const int32_t* sum[kColumns];
  typename V::F acc[kColumns], min_acc[kColumns];
  // The first tile reads the panel from memory; later ones find it in the cache.
  const bool is_streamed = token == 0;
  for (int c = 0; c < kColumns; ++c) {
    q[c] = args.input.q + static_cast<int64_t>(token + c) * args.weight.cols;
    scale[c] = args.input.scale + static_cast<int64_t>(token + c) * num_blocks;
    sum[c] = args.input.sum + static_cast<int64_t>(token + c) * num_blocks;
    acc[c] = min_acc[c] = V::zero();
  }
  for (int b = 0; b < num_blocks; ++b, record += record_bytes(kForm)) {
    if (is_streamed) {
      for (int line = 0; line < record_bytes(kForm); line += 64) {
        __builtin_prefetch(record + kPrefetchBytes + line);
      }
    }
    typename V::I dot[kColumns];
    block_dots<V, kForm, kColumns>(record, q, sum, b, dot);
    const typename V::F w_scale = load_scales<V, kLayout.scale_bytes>(record);
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) {
      acc[c] = V::fma(V::to_float(dot[c]), V::mul(w_scale, V::set1(scale[c][b])), acc[c]);
    }
    if constexpr (kLayout.has_min) {
      const typename V::F w_min =
          load_scales<V, kLayout.scale_bytes>(record + kLayout.min_offset());
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) {
        const float scaled_sum = scale[c][b] * static_cast<float>(sum[c][b]);
        min_acc[c] = V::fma(w_min, V::set1(scaled_sum), min_acc[c]);
      }
    }
  }
  for (int c = 0; c < kColumns; ++c) {
    const typename V::F value = kLayout.has_min ? V::add(acc[c], min_acc[c]) : acc[c];
    store_outputs<V>(args, panel, token + c, value);
  }
}

// --- the loop over tiles -----------------------------------------------------------------------

template <class V, WeightForm kForm, int kColumns>
void tile(const LinearArgs& args, int panel, int token) {
  if constexpr (backend::is_quantized(kForm)) {
    quantized_tile<V, kForm, kColumns>(args, panel, token);
  } else {
    float_tile<V, kForm, kColumns>(args, panel, token);
  }
}

/// All tokens from `token` on, in tiles of kColumns, then of half of that, down to one. (A tile for
/// every remainder would double the compile time for a few per cent at 3, 5, 6 and 7 tokens.)
template <class V, WeightForm kForm, int kColumns>
void panel_tiles(const LinearArgs& args, int panel, int token) {
  for (; token + kColumns <= args.input.x.rows; token += kColumns) {
    tile<V, kForm, kColumns>(args, panel, token);
  }
  if constexpr (kColumns > 1) panel_tiles<V, kForm, kColumns / 2>(args, panel, token);
}

template <class V, WeightForm kForm>
void linear(const LinearArgs& args) {
  for (int panel = args.panel_begin; panel < args.panel_end; ++panel) {
    panel_tiles<V, kForm, V::kTileColumns>(args, panel, 0);
  }
}

#undef WL_INLINE

}  // namespace wl::cpu::simd
