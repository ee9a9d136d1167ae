#pragma once
// Fills a KernelTable with the instantiations of one vector type.

#include "cpu/simd/attention_kernels.h"
#include "cpu/simd/elementwise_kernels.h"
#include "cpu/simd/linear_kernels.h"

namespace wl::cpu::simd {

template <class V>
KernelTable make_table(const char* name) {
  using backend::WeightForm;
  KernelTable table{};
  table.name = name;
  table.quantize_rows = quantize_rows<V>;
  const auto set = [&table](WeightForm form, void (*kernel)(const LinearArgs&)) {
    table.linear[static_cast<int>(form)] = kernel;
  };
  set(WeightForm::kF32, linear<V, WeightForm::kF32>);
  set(WeightForm::kF16, linear<V, WeightForm::kF16>);
  set(WeightForm::kBF16, linear<V, WeightForm::kBF16>);
  set(WeightForm::kNibble, linear<V, WeightForm::kNibble>);
  set(WeightForm::kNibbleMin, linear<V, WeightForm::kNibbleMin>);
  set(WeightForm::kNibbleBlockScale, linear<V, WeightForm::kNibbleBlockScale>);
  set(WeightForm::kByte, linear<V, WeightForm::kByte>);
  set(WeightForm::kByteMin, linear<V, WeightForm::kByteMin>);
  set(WeightForm::kByteBlockScale, linear<V, WeightForm::kByteBlockScale>);
  set(WeightForm::kSixBitSubScale, linear<V, WeightForm::kSixBitSubScale>);
  set(WeightForm::kNibbleSubScale, linear<V, WeightForm::kNibbleSubScale>);
  set(WeightForm::kNibbleSubScaleMin, linear<V, WeightForm::kNibbleSubScaleMin>);
  set(WeightForm::kNibbleIq4, linear<V, WeightForm::kNibbleIq4>);
  set(WeightForm::kNibbleFp4, linear<V, WeightForm::kNibbleFp4>);
  table.attention = attention<V>;
  table.rms_norm_row = rms_norm_row<V>;
  table.gated_mlp = gated_mlp<V>;
  table.add_scaled = add_scaled<V>;
  table.soft_cap = soft_cap<V>;
  table.exp_row = exp_row<V>;
  table.add_weighted_row = add_weighted_row<V>;
  return table;
}

}  // namespace wl::cpu::simd
