#pragma once
// The scalar reference of every kernel, written from the formulas of backend/ops.h: the oracle for
// all instruction sets and the build for CPUs without one.

#include "cpu/kernels.h"

namespace wl::cpu::ref {

void quantize_rows(backend::Matrix x, int row_begin, int row_end, float levels,
                   const QuantizedRows& out);
void linear(const LinearArgs& args);
void attention(const AttentionArgs& args);
void rms_norm_row(float* out, const float* x, const float* weight, int cols, float eps);
void gated_mlp(float* gate, const float* up, int64_t count, backend::MlpGate how);
void add_scaled(float* x, const float* y, float scale, int64_t count);
void soft_cap(float* x, float cap, int64_t count);
float exp_row(float* x, int count, float largest);
void add_weighted_row(float* x, backend::Matrix y, int num_used, const int32_t* rows,
                      const float* weights);

}  // namespace wl::cpu::ref
