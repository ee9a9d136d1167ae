#pragma once
// One token's K and V on their way into the cache; Ops::store_kv is this over all tokens.

#include "backend/kv_cache.h"

namespace wl::cpu {

/// Rounds k and v [kv_heads * head_dim] to the cache's type and stores them at `slot` (block *
/// block size + offset). What is stored depends on this row only.
void store_kv_row(const backend::KvCache& cache, int layer, int slot, const float* k,
                  const float* v);

}  // namespace wl::cpu
