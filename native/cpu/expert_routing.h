#pragma once
// The choice of experts of one token; Ops::route_experts is this over all tokens. No kernel of its
// own: the comparisons are few, and its exponentials are the level's.

#include <cstdint>

#include "backend/ops.h"
#include "cpu/kernels.h"

namespace wl::cpu {

/// scores [num_experts], used up; experts, weights [routing.num_used]. Formulas: backend/ops.h. Any
/// scores, NaN included, give indices in range, each once.
void route_row(const KernelTable& kernels, float* scores, int num_experts,
               const backend::ExpertRouting& routing, int32_t* experts, float* weights);

}  // namespace wl::cpu
