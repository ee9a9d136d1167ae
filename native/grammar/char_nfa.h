#pragma once
// Nondeterministic automata over characters: how regular expressions and ranges of numbers are put
// together before determinize() makes them automata that can run.

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "grammar/char_dfa.h"
#include "grammar/char_set.h"

namespace wl::grammar {

class CharNfa {
 public:
  /// When an edge without a character may be taken.
  enum class Condition : uint8_t { kAlways, kAtStart, kAtEnd };

  struct EmptyEdge {
    Condition condition;
    int32_t target;
  };
  struct CharsEdge {
    int32_t set;  // index into sets()
    int32_t target;
  };
  struct State {
    std::vector<EmptyEdge> empty_edges;
    std::vector<CharsEdge> chars_edges;
  };

  /// State 0 is the start.
  int32_t add_state();
  void add_empty_edge(int32_t from, int32_t target, Condition condition = Condition::kAlways);
  void add_edge(int32_t from, const CharSet& set, int32_t target);
  void set_accepting(int32_t state) { accepting_ = state; }

  const std::vector<State>& states() const { return states_; }
  const std::vector<CharSet>& sets() const { return sets_; }
  int32_t accepting() const { return accepting_; }

 private:
  std::vector<State> states_;
  std::vector<CharSet> sets_;  // no two alike
  std::map<CharSet, int32_t> set_index_;
  int32_t accepting_ = 0;
};

/// The minimized automaton. Errors: ERR_GRAMMAR: too large, or takes too long.
Result<CharDfa> determinize(const CharNfa& nfa);

}  // namespace wl::grammar
