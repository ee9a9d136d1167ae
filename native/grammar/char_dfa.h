#pragma once
// Deterministic automata over characters: languages of strings before they are written as bytes
// (encoded_dfa.h). All operations keep them trimmed: every state is reachable and leads to one that
// accepts, so the empty language is a single state without edges.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/byte_dfa.h"
#include "grammar/char_set.h"

namespace wl::grammar {

/// What one construction may cost; beyond it ERR_GRAMMAR. An automaton of this size takes about
/// 10 MiB and some tens of milliseconds.
constexpr size_t kMaxCharStates = 16'384;

struct CharEdge {
  uint32_t first = 0, last = 0;  // the characters that take it, inclusive
  int32_t target = 0;
  bool operator==(const CharEdge&) const = default;
};

struct CharState {
  std::vector<CharEdge> edges;  // ascending, no two share a character
  bool accepts = false;
};

/// State 0 is the start.
struct CharDfa {
  std::vector<CharState> states;

  bool is_empty() const { return states[0].edges.empty() && !states[0].accepts; }
  /// `text` must be valid UTF-8.
  bool accepts(std::string_view text) const;
};

/// Every string.
CharDfa any_string();
/// Removes unreachable and dead states, and joins states that accept the same strings unless that
/// takes too long.
CharDfa minimized(const CharDfa& dfa);
/// What both accept. Errors: ERR_GRAMMAR, too large.
Result<CharDfa> intersection(const CharDfa& a, const CharDfa& b);
/// What `a` accepts and `b` does not. Errors: ERR_GRAMMAR, too large.
Result<CharDfa> difference(const CharDfa& a, const CharDfa& b);
/// The strings with a number of characters within bounds. Errors: ERR_GRAMMAR, too large.
Result<CharDfa> with_length(const CharDfa& dfa, UnitBounds bounds);

}  // namespace wl::grammar
