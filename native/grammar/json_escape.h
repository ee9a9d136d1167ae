#pragma once
// A grammar of texts, written as the inside of JSON strings: what a model writes where a call's
// arguments are JSON but one of them has a grammar of its own.

#include "base/result.h"
#include "grammar/expr.h"

namespace wl::grammar {

/// An expression whose texts are those of `grammar` with the characters escaped that JSON cannot
/// hold as they are: the short escapes where there are, else \u00xx in lower case (as
/// JSON.stringify). Its rules are added to those of `into`. Errors: ERR_GRAMMAR: it has free text
/// (Text), or counts units of which only some are escaped.
Result<ExprPtr> in_json_string(const Grammar& grammar, Grammar& into);

}  // namespace wl::grammar
