#pragma once
// JSON Schema as a grammar of the JSON texts that validate. What is written is a subset of what
// validates only in its form: members in the order of the schema, others behind them and, where
// `properties` lists some, only if the schema speaks of others; numbers without exponents where
// they have bounds. A schema that cannot be enforced exactly is refused.
//
// Drafts 4 to 2020-12 as far as they mean the same. Annotations and unknown keywords are ignored, a
// known assertion never. $ref is followed within the schema, also recursively.
//
// json_schema_document: what the schema says, node by node. json_schema_branches: which nodes hold
// together. json_schema_values: whether a given value validates. json_schema_shapes: what the nodes
// together ask of each type. json_schema.cpp, with json_schema_strings and json_schema_numbers:
// from there to expressions.

#include <string>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/expr.h"
#include "grammar/json_text.h"

namespace wl::grammar {

struct JsonSchemaOptions {
  JsonWhitespace whitespace = JsonWhitespace::kSpaced;
  std::string name;  // what messages call the schema; may be empty
};

/// An expression of the texts; its rules are added to the grammar. Errors: ERR_GRAMMAR with the
/// schema's name, the JSON pointer, the keyword and the reason.
Result<ExprPtr> json_schema_expr(const JsonTree& schema, const JsonSchemaOptions& options,
                                 Grammar* grammar);

}  // namespace wl::grammar
