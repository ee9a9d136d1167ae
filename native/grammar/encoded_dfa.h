#pragma once
// Strings written as bytes: what turns an automaton over characters into the leaf of a grammar.

#include <string>
#include <string_view>
#include <vector>

#include "grammar/byte_dfa.h"
#include "grammar/char_dfa.h"

namespace wl::grammar {

/// The strings as UTF-8. `dfa` must not be empty.
ByteDfa encoded_dfa(const CharDfa& dfa);

/// Whether the characters of a string are counted by bounds of a Match.
enum class CountUnits : bool { kNo, kYes };

/// The strings as JSON writes them, from behind the opening quote, closing quote included. Each
/// character is written in one way, that of JSON.stringify: escaped where it must be, in short
/// where that exists. `dfa` must not be empty.
ByteDfa json_string_rest_dfa(const CharDfa& dfa, CountUnits count_units = CountUnits::kNo);

/// The strings as JSON writes them inside of its quotes, as above, without quotes.
ByteDfa json_chars_dfa(const CharDfa& dfa);

/// One of these texts; at least one.
ByteDfa literals_dfa(std::vector<std::string> texts);

/// `text` as a JSON string with its quotes, written as JSON.stringify does.
std::string json_quoted(std::string_view text);

}  // namespace wl::grammar
