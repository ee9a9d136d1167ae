// Matrix products in scalar form, written from the formula in backend/ops.h.

#include <algorithm>
#include <cmath>

#include "cpu/panel_reader.h"
#include "cpu/ref/kernels_ref.h"

namespace wl::cpu::ref {

using backend::kBlockInputs;
using backend::kPanelRows;

namespace {

float dot_float(const PanelRow& row, const float* x, int cols) {
  float acc = 0;
  for (int k = 0; k < cols; ++k) acc = std::fma(row.float_at(k), x[k], acc);
  return acc;
}

/// Exact in every form (backend/weight.h).
int32_t block_dot(const PanelRow& row, int b, const int16_t* q) {
  int32_t dot = 0;
  for (int half = 0; half < 2; ++half) {
    int32_t part = 0;
    for (int k = 16 * half; k < 16 * half + 16; ++k) part += row.quant_at(b, k) * q[k];
    dot += row.sub_scale_at(b, half) * part;
  }
  return dot;
}

float dot_quantized(const PanelRow& row, const LinearArgs& args, int token) {
  const int num_blocks = args.weight.cols / kBlockInputs;
  const int16_t* q = args.input.q + static_cast<int64_t>(token) * args.weight.cols;
  const float* scale = args.input.scale + static_cast<int64_t>(token) * num_blocks;
  const int32_t* sum = args.input.sum + static_cast<int64_t>(token) * num_blocks;
  const int32_t* low_sum = args.input.low_sum + static_cast<int64_t>(token) * num_blocks;
  float acc = 0, min_acc = 0;
  for (int b = 0; b < num_blocks; ++b) {
    const float dot = static_cast<float>(block_dot(row, b, q + b * kBlockInputs));
    acc = std::fma(dot, row.scale_at(b) * scale[b], acc);
    const int32_t min_sum =
        row.sub_min_at(b, 0) * low_sum[b] + row.sub_min_at(b, 1) * (sum[b] - low_sum[b]);
    min_acc = std::fma(row.min_at(b), scale[b] * static_cast<float>(min_sum), min_acc);
  }
  return row.has_min() ? acc + min_acc : acc;
}

}  // namespace

void linear(const LinearArgs& args) {
  const int row_end = std::min(args.panel_end * kPanelRows, args.weight.rows);
  for (int r = args.panel_begin * kPanelRows; r < row_end; ++r) {
    const PanelRow row(args.weight, r);
    for (int token = 0; token < args.input.x.rows; ++token) {
      float value = backend::is_quantized(args.weight.form)
                        ? dot_quantized(row, args, token)
                        : dot_float(row, args.input.x.row(token), args.weight.cols);
      if (args.bias != nullptr) value += args.bias[r];
      args.out.row(token)[r] = value;
    }
  }
}

}  // namespace wl::cpu::ref
