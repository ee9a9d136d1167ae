#pragma once
// The parts that all JSON texts are made of. Their automata exist once in the process, so that all
// grammars share what is computed for them.

#include <cstdint>
#include <memory>

#include "grammar/byte_dfa.h"
#include "grammar/expr.h"

namespace wl::grammar {

using SharedByteDfa = std::shared_ptr<const ByteDfa>;

/// Any string, from behind its opening quote, closing quote included: all escapes that JSON has,
/// surrogates in pairs only. Characters are counted, an escape as what it stands for.
const SharedByteDfa& json_string_rest();
/// Any number; at most 19 digits, 20 behind the point and 2 of an exponent, so that it is finite.
const SharedByteDfa& json_number();
const SharedByteDfa& json_integer();
const SharedByteDfa& json_boolean();
/// Any string, number, boolean or null.
const SharedByteDfa& json_scalar();

/// What stands between the tokens of a text.
enum class JsonWhitespace : uint8_t {
  kSpaced,  // ", " and ": ", nothing elsewhere
  kAny,     // up to 8 white-space characters
};

/// A JSON text's punctuation, white space around it included.
struct JsonPunctuation {
  ExprPtr comma, colon;
  ExprPtr space;  // behind an opening bracket and in front of a closing one; null: nothing
};

const JsonPunctuation& json_punctuation(JsonWhitespace whitespace);

}  // namespace wl::grammar
