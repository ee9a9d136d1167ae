#pragma once
// The numbers of a schema as JSON writes them.

#include <cstdint>

#include "base/result.h"
#include "grammar/expr.h"
#include "grammar/json_schema_shapes.h"

namespace wl::grammar {

/// Of multipleOf, several together: each remainder is a state.
constexpr uint32_t kMaxDivisor = 10'000;

/// Errors: ERR_GRAMMAR with the keyword and the reason.
Result<ExprPtr> schema_number_expr(const NumberShape& shape);

}  // namespace wl::grammar
