#pragma once
// Loops over short texts as one automaton. As a loop of the program each round would be entered
// again at every node of the token trie; as an automaton its tokens are found once.

#include <optional>

#include "grammar/byte_dfa.h"

namespace wl::grammar {

/// Any number of texts of `dfa`, one behind the other, each a unit. nullopt: where one ends the
/// next does not surely begin (a text begins with another one, or is empty), or `dfa` counts units.
std::optional<ByteDfa> repeated_dfa(const ByteDfa& dfa);

}  // namespace wl::grammar
