#pragma once
// Automata of free text around the markers of a model's output format.

#include <span>
#include <string>

#include "grammar/byte_dfa.h"

namespace wl::grammar {

/// Any bytes without an occurrence of one of `excluding`. With `until` (not empty) the text ends
/// with the first occurrence of that; else every text without the excluded markers is accepted. Of
/// two markers that end at one byte an excluded one wins. No marker is empty.
/// Formula: Aho and Corasick, Efficient string matching, CACM 18 (1975).
ByteDfa text_dfa(const std::string& until, std::span<const std::string> excluding);

}  // namespace wl::grammar
