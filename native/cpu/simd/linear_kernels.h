#pragma once
// The loop over the tiles of a matrix product.

#include "cpu/simd/linear_tiles.h"
#include "cpu/simd/quantized_tiles.h"

namespace wl::cpu::simd {

/// Columns of the next smaller tile. (A tile for every remainder would double the compile time for
/// a few per cent at 3, 5, 6 and 7 tokens.)
constexpr int smaller_tile(int columns) { return columns > 8 ? 8 : columns / 2; }

/// Tokens [token, end) in tiles of kColumns, then of smaller ones, down to one.
template <class V, WeightForm kForm, Operand kOperand, int kColumns>
void panel_tiles(const LinearArgs& args, int panel, int token, int end, bool is_streamed) {
  for (; token + kColumns <= end; token += kColumns) {
    if constexpr (backend::is_quantized(kForm)) {
      quantized_tile<V, kForm, kOperand, kColumns>(args, panel, token, is_streamed);
    } else {
      float_tile<V, kForm, kColumns>(args, panel, token);
    }
    is_streamed = false;
  }
  if constexpr (kColumns > 1) {
    panel_tiles<V, kForm, kOperand, smaller_tile(kColumns)>(args, panel, token, end, is_streamed);
  }
}

// Inputs of so many tokens stay in the L2 cache while all panels pass over them.
constexpr int kTokenBlockBytes = 512 * 1024;

/// Tokens that share a pass over the panels: whole tiles.
template <class V>
int tokens_of_a_pass(int cols, int input_bytes) {
  const int tokens = kTokenBlockBytes / (cols * input_bytes);
  return tokens > V::kTileColumns ? tokens / V::kTileColumns * V::kTileColumns : V::kTileColumns;
}

template <class V, WeightForm kForm, Operand kOperand>
void linear_by(const LinearArgs& args) {
  const int step = tokens_of_a_pass<V>(args.weight.cols, backend::is_quantized(kForm) ? 2 : 4);
  for (int token = 0; token < args.input.x.rows; token += step) {
    const int end = args.input.x.rows - token < step ? args.input.x.rows : token + step;
    for (int panel = args.panel_begin; panel < args.panel_end; ++panel) {
      panel_tiles<V, kForm, kOperand, V::kTileColumns>(args, panel, token, end, true);
    }
  }
}

// Panels of float weights that one token takes at once.
constexpr int kPanelsOfAToken = 4;

template <class V, WeightForm kForm>
void float_linear_of_a_token(const LinearArgs& args) {
  int panel = args.panel_begin;
  for (; panel + kPanelsOfAToken <= args.panel_end; panel += kPanelsOfAToken) {
    float_tile<V, kForm, 1, kPanelsOfAToken>(args, panel, 0);
  }
  for (; panel < args.panel_end; ++panel) float_tile<V, kForm, 1>(args, panel, 0);
}

template <class V, WeightForm kForm>
void linear(const LinearArgs& args) {
  if constexpr (!backend::is_quantized(kForm)) {
    if (args.input.x.rows == 1) return float_linear_of_a_token<V, kForm>(args);
  }
  if constexpr (backend::is_quantized(kForm) && takes_int8<V>(kForm)) {
    if (args.input.q8 != nullptr) return linear_by<V, kForm, Operand::kInt8>(args);
  }
  linear_by<V, kForm, Operand::kInt16>(args);
}

}  // namespace wl::cpu::simd
