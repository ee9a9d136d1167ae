#pragma once
// Schemas that refer to themselves for the same value.

#include "base/result.h"
#include "grammar/json_schema_document.h"

namespace wl::grammar {

/// $ref, allOf, anyOf and oneOf that lead back to where they stand say nothing about any value.
/// Errors: ERR_GRAMMAR at one of the schemas on the way.
Status check_schema_loops(const SchemaDocument& document);

}  // namespace wl::grammar
