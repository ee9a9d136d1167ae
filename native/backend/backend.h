#pragma once
// A device as models see it: it says which weight types it multiplies, packs them into its own form
// and runs Ops. Owned by one engine; packed weights may outlive it and be shared (weights of the
// same file are packed once a process).

#include <cstdint>
#include <optional>

#include "backend/ops.h"
#include "backend/weight.h"
#include "base/dtype.h"

namespace wl::backend {

/// A matrix [rows, cols] as the file stores it: rows of blocks, one after the other.
struct WeightSource {
  DType type = DType::kF32;
  int rows = 0;
  int cols = 0;
  const uint8_t* bytes = nullptr;
  /// Quantised to this type before it is packed (quant/quantize.h); the form is that type's.
  std::optional<DType> quantize_to = {};
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Ops& ops() = 0;
  /// Form in which a type is multiplied, or nullopt when this backend cannot.
  virtual std::optional<WeightForm> form_for(DType type) const = 0;
  /// Packs `source` into `panels` (64-byte aligned, Weight::num_bytes() of {form, rows, cols}).
  virtual void pack(const WeightSource& source, WeightForm form, uint8_t* panels) = 0;
};

}  // namespace wl::backend
