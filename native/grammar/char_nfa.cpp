#include "grammar/char_nfa.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace wl::grammar {
namespace {

/// Edges looked at in one construction: some tenths of a second. What needs more is made to.
constexpr size_t kMaxSteps = 10'000'000;

/// Sets of states are compared as a whole.
struct StateSetHash {
  size_t operator()(const std::vector<int32_t>& states) const {
    size_t hash = states.size();
    for (const int32_t state : states) {
      hash = (hash ^ static_cast<size_t>(state)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

/// Characters that no set of the automaton tells apart form a class: steps are made by classes, of
/// which there are few even where a set has hundreds of ranges.
struct CharClasses {
  std::vector<CharSet> members;              // of each class
  std::vector<std::vector<int32_t>> of_set;  // the classes that make up each set
};

struct Boundary {
  uint32_t at;
  int32_t set;
  bool opens;
};

std::vector<Boundary> boundaries_of(const std::vector<CharSet>& sets) {
  std::vector<Boundary> boundaries;
  for (size_t s = 0; s < sets.size(); ++s) {
    for (const CharRange& range : sets[s]) {
      boundaries.push_back({range.first, static_cast<int32_t>(s), true});
      boundaries.push_back({range.last + 1, static_cast<int32_t>(s), false});
    }
  }
  std::sort(boundaries.begin(), boundaries.end(),
            [](const Boundary& a, const Boundary& b) { return a.at < b.at; });
  return boundaries;
}

class Determinizer {
 public:
  explicit Determinizer(const CharNfa& nfa) : nfa_(nfa), seen_(nfa.states().size(), 0) {}

  Result<CharDfa> run() {
    if (!classify()) return too_long();
    number_of(closure({0}, Pass::kAtStart));
    CharDfa dfa;
    for (size_t i = 0; i < order_.size(); ++i) {
      if (order_.size() > kMaxCharStates) return too_large();
      if (num_steps_ > kMaxSteps) return too_long();
      dfa.states.push_back(expand(*order_[i], i == 0));
    }
    return minimized(dfa);
  }

 private:
  using StateSet = std::vector<int32_t>;  // ascending
  enum class Pass { kAtStart, kInside, kAtEnd, kAtStartAndEnd };

  static Error too_large() {
    return {ErrorCode::kGrammar,
            "needs an automaton of more than " + std::to_string(kMaxCharStates) + " states"};
  }
  static Error too_long() {
    return {ErrorCode::kGrammar, "takes too long to turn into an automaton"};
  }

  bool classify() {
    classes_.of_set.resize(nfa_.sets().size());
    std::map<StateSet, int32_t> class_of;  // by the sets that a character is in
    StateSet open;
    const std::vector<Boundary> boundaries = boundaries_of(nfa_.sets());
    for (size_t i = 0; i < boundaries.size(); ++i) {
      const auto place = std::lower_bound(open.begin(), open.end(), boundaries[i].set);
      if (boundaries[i].opens) {
        open.insert(place, boundaries[i].set);
      } else {
        open.erase(place);
      }
      num_steps_ += open.size();
      if (num_steps_ > kMaxSteps) return false;
      if (open.empty() || boundaries[i + 1].at == boundaries[i].at) continue;
      const auto [found, is_new] =
          class_of.try_emplace(open, static_cast<int32_t>(classes_.members.size()));
      if (is_new) {
        classes_.members.emplace_back();
        for (const int32_t set : open) {
          classes_.of_set[static_cast<size_t>(set)].push_back(found->second);
        }
      }
      classes_.members[static_cast<size_t>(found->second)].push_back(
          {boundaries[i].at, boundaries[i + 1].at - 1});
    }
    return true;
  }

  static bool may_pass(CharNfa::Condition condition, Pass pass) {
    switch (condition) {
      case CharNfa::Condition::kAlways:
        return true;
      case CharNfa::Condition::kAtStart:
        return pass == Pass::kAtStart || pass == Pass::kAtStartAndEnd;
      case CharNfa::Condition::kAtEnd:
        return pass == Pass::kAtEnd || pass == Pass::kAtStartAndEnd;
    }
    return false;
  }

  /// The states that are reached without a character, as far as they matter later.
  StateSet closure(StateSet queue, Pass pass) {
    ++mark_;
    StateSet reached;
    for (const int32_t state : queue) seen_[static_cast<size_t>(state)] = mark_;
    for (size_t i = 0; i < queue.size(); ++i) {
      const CharNfa::State& state = nfa_.states()[static_cast<size_t>(queue[i])];
      bool matters = !state.chars_edges.empty() || queue[i] == nfa_.accepting();
      for (const CharNfa::EmptyEdge& edge : state.empty_edges) {
        matters = matters || edge.condition == CharNfa::Condition::kAtEnd;
        if (!may_pass(edge.condition, pass)) continue;
        uint32_t& seen = seen_[static_cast<size_t>(edge.target)];
        if (seen == mark_) continue;
        seen = mark_;
        queue.push_back(edge.target);
      }
      num_steps_ += 1 + state.empty_edges.size();
      if (matters) reached.push_back(queue[i]);
    }
    std::sort(reached.begin(), reached.end());
    return reached;
  }

  int32_t number_of(StateSet states) {
    const auto [found, is_new] =
        numbers_.try_emplace(std::move(states), static_cast<int32_t>(order_.size()));
    if (is_new) order_.push_back(&found->first);
    return found->second;
  }

  CharState expand(const StateSet& states, bool is_start) {
    CharState out;
    const StateSet at_end = closure(states, is_start ? Pass::kAtStartAndEnd : Pass::kAtEnd);
    out.accepts = std::binary_search(at_end.begin(), at_end.end(), nfa_.accepting());
    std::map<int32_t, StateSet> targets;  // by class
    for (const int32_t from : states) {
      if (num_steps_ > kMaxSteps) return out;  // run() gives up
      for (const CharNfa::CharsEdge& edge : nfa_.states()[static_cast<size_t>(from)].chars_edges) {
        for (const int32_t char_class : classes_.of_set[static_cast<size_t>(edge.set)]) {
          targets[char_class].push_back(edge.target);
          ++num_steps_;
        }
      }
    }
    for (auto& [char_class, reached] : targets) {
      std::sort(reached.begin(), reached.end());
      reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
      const int32_t target = number_of(closure(std::move(reached), Pass::kInside));
      for (const CharRange& range : classes_.members[static_cast<size_t>(char_class)]) {
        out.edges.push_back({range.first, range.last, target});
        ++num_steps_;
      }
    }
    std::sort(out.edges.begin(), out.edges.end(),
              [](const CharEdge& a, const CharEdge& b) { return a.first < b.first; });
    return out;
  }

  const CharNfa& nfa_;
  CharClasses classes_;
  std::vector<uint32_t> seen_;  // the last closure that met the state
  uint32_t mark_ = 0;
  size_t num_steps_ = 0;
  // Keys of a node-based map stay where they are.
  std::unordered_map<StateSet, int32_t, StateSetHash> numbers_;
  std::vector<const StateSet*> order_;
};

}  // namespace

int32_t CharNfa::add_state() {
  states_.emplace_back();
  return static_cast<int32_t>(states_.size() - 1);
}

void CharNfa::add_empty_edge(int32_t from, int32_t target, Condition condition) {
  states_[static_cast<size_t>(from)].empty_edges.push_back({condition, target});
}

void CharNfa::add_edge(int32_t from, const CharSet& set, int32_t target) {
  if (set.empty()) return;
  const auto [found, is_new] = set_index_.try_emplace(set, static_cast<int32_t>(sets_.size()));
  if (is_new) sets_.push_back(set);
  states_[static_cast<size_t>(from)].chars_edges.push_back({found->second, target});
}

Result<CharDfa> determinize(const CharNfa& nfa) { return Determinizer(nfa).run(); }

}  // namespace wl::grammar
