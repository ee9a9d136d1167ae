#pragma once
// The values of JSON Schema's `format` keyword for strings, as automata: what RFC 3339, 3986, 5321
// and so on allow, or the part of it that every validator takes (dates with the days of their
// month, times with a zone, no leap seconds, URIs and mail addresses in ASCII).

#include <memory>
#include <string_view>

#include "base/result.h"
#include "grammar/char_dfa.h"
#include "grammar/json_text.h"

namespace wl::grammar {

struct StringFormat {
  CharDfa strings;
  SharedByteDfa json_rest;  // as json_string_rest_dfa(strings)
};

/// nullptr: a name that says nothing about a string, as unknown ones do. Each format is built once
/// in the process. Errors: ERR_GRAMMAR: a format that is known and not supported.
Result<const StringFormat*> string_format(std::string_view name);

}  // namespace wl::grammar
