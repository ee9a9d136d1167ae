#pragma once
// File blocks -> panels (backend/weight.h). Exact: a packed weight dequantises to the same float as
// the file's block, for every supported type.

#include <optional>

#include "backend/backend.h"

namespace wl::cpu {

/// The form that keeps a type's own integers, or nullopt for a type that is not multiplied here.
std::optional<backend::WeightForm> packed_form(DType type);

/// Packs rows 16 * panel ... of `source` into one panel. `form` is packed_form(source.type) or
/// kF32.
void pack_panel(const backend::WeightSource& source, backend::WeightForm form, int panel,
                uint8_t* out);

}  // namespace wl::cpu
