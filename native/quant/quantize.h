#pragma once
// Makes quantised blocks from float32 values, for models that are quantised at load. Each format's
// quantiser lies in the format's own file; they choose the scales that make the squared error
// small (quant/scale_search.h). The bytes are the same on every machine.

#include <cstdint>

#include "base/dtype.h"

namespace wl::quant {

/// Whether `quantize` makes blocks of this type: Q8_0, Q5_0, Q4_0, Q4_K.
bool can_quantize(DType type);

/// Quantises `count` consecutive values, a multiple of the format's block size. A block with a NaN,
/// an infinity or a value beyond the format's range dequantises to NaN, so that damage stays seen.
void quantize(DType type, const float* values, int64_t count, uint8_t* out);

}  // namespace wl::quant
