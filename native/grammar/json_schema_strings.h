#pragma once
// Strings that a schema constrains, and keys of members that it does not declare, as expressions of
// their JSON form.

#include <string>
#include <vector>

#include "base/result.h"
#include "grammar/expr.h"
#include "grammar/json_schema_shapes.h"

namespace wl::grammar {

/// A string with its quotes. Errors: ERR_GRAMMAR, too large: the message names the keywords.
Result<ExprPtr> schema_string_expr(const StringShape& shape);

/// A string with its quotes that is none of `taken`.
ExprPtr other_string_expr(const std::vector<std::string>& taken);

/// The strings of the shape, lengths too. Errors: as schema_string_expr().
Result<CharDfa> schema_strings(const StringShape& shape);

/// Exactly these strings.
CharDfa strings_dfa(const std::vector<std::string>& texts);

}  // namespace wl::grammar
