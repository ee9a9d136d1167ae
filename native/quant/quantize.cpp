#include "quant/quantize.h"

#include <string>

#include "base/result.h"
#include "quant/q4_0.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q8_0.h"

namespace wl::quant {

namespace {

using Quantizer = void (*)(const float* values, int64_t num_blocks, uint8_t* out);

Quantizer quantizer(DType type) {
  switch (type) {
    case DType::kQ8_0:
      return quantize_q8_0;
    case DType::kQ5_0:
      return quantize_q5_0;
    case DType::kQ4_0:
      return quantize_q4_0;
    case DType::kQ4_K:
      return quantize_q4_k;
    default:
      return nullptr;
  }
}

}  // namespace

bool can_quantize(DType type) { return quantizer(type) != nullptr; }

void quantize(DType type, const float* values, int64_t count, uint8_t* out) {
  const Quantizer quantize_blocks = quantizer(type);
  const DTypeTraits traits = dtype_traits(type);
  if (quantize_blocks == nullptr || count % traits.block_elems != 0) {
    throw InternalError("quantize: " + std::to_string(count) + " elements to " + traits.name);
  }
  quantize_blocks(values, count / traits.block_elems, out);
}

}  // namespace wl::quant
