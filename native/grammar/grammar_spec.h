#pragma once
// Grammars as JSON, the form in which they come from TypeScript. One object with one of these keys:
//
//   {"literal": "text"}                    these bytes
//   {"marker": "<tool_call>"}              this text, special tokens where it spells them
//   {"sequence": [spec, ...]}              one after the other
//   {"choice": [spec, ...]}                one of them
//   {"repeat": spec, "min": 0, "max": n}   bounds optional
//   {"json_schema": schema, "whitespace": "spaced" | "any", "name": "get_weather"}
//                                          a JSON text that the schema validates. spaced (default):
//                                          ", " and ": " between tokens, as Python's json writes;
//                                          any: up to 8 white-space characters between tokens, none
//                                          in front or behind. name: what messages call the schema
//   {"regex": "pattern"}                   a text that the pattern matches as a whole
//   {"lark": "grammar"}                    a text that Lark's `start` rule derives
//   {"in_json_string": spec}               a text of the spec as the inside of a JSON string, with
//                                          JSON.stringify's escapes
//   {"text_until": "</think>", "excluding": ["<tool_call>"]}
//                                          any text that ends with the first occurrence of the
//                                          marker and has none of the excluded ones
//   {"text": true, "excluding": ["<tool_call>"]}
//                                          any text, also none, without the excluded markers
//
// A marker in text_until or excluding may spell a special token or be plain text.

#include <string_view>

#include "base/result.h"
#include "grammar/expr.h"

namespace wl::grammar {

/// Errors: ERR_GRAMMAR with a message that names what is wrong and where: for a schema its `name`
/// (when given), the JSON pointer and the keyword. Any bytes are safe to pass; time and memory are
/// bounded by the length of `spec`.
Result<Grammar> parse_grammar_spec(std::string_view spec);

}  // namespace wl::grammar
