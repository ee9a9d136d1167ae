#pragma once
// Lark grammars, as custom tools bring them, as grammars of the texts that `start` derives: rules,
// terminals, strings, expressions between slashes, groups, repetitions, terminals of Lark's library
// `common`, %ignore. Aliases, priorities and the marks ? and ! only shape trees, so they are read
// over. Templates, other imports and other directives are refused.
//
// There is no lexer: a terminal is any text of its automaton, also where Lark's would take a longer
// one or another terminal. Expressions are those of regex.h; anchors are refused.

#include <string_view>

#include "base/result.h"
#include "grammar/expr.h"

namespace wl::grammar {

/// An expression of the texts; its rules are added to the grammar. Errors: ERR_GRAMMAR with the
/// line or the name and the reason.
Result<ExprPtr> lark_expr(std::string_view definition, Grammar* grammar);

}  // namespace wl::grammar
