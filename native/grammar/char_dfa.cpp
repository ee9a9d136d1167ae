#include "grammar/char_dfa.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"

namespace wl::grammar {
namespace {

/// Edges looked at while states are joined: about a quarter of a second. Only automata made to be
/// difficult need more; they stay as they are.
constexpr size_t kMaxMinimizationSteps = 20'000'000;

constexpr uint32_t kNever = UINT32_MAX;

/// For each state the length of the shortest string that it accepts, else kNever.
std::vector<uint32_t> distances_to_accept(const CharDfa& dfa) {
  std::vector<std::vector<int32_t>> sources(dfa.states.size());
  std::vector<uint32_t> distance(dfa.states.size(), kNever);
  std::vector<int32_t> queue;
  for (size_t s = 0; s < dfa.states.size(); ++s) {
    for (const CharEdge& edge : dfa.states[s].edges) {
      sources[static_cast<size_t>(edge.target)].push_back(static_cast<int32_t>(s));
    }
    if (!dfa.states[s].accepts) continue;
    distance[s] = 0;
    queue.push_back(static_cast<int32_t>(s));
  }
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto state = static_cast<size_t>(queue[i]);
    for (const int32_t source : sources[state]) {
      if (distance[static_cast<size_t>(source)] != kNever) continue;
      distance[static_cast<size_t>(source)] = distance[state] + 1;
      queue.push_back(source);
    }
  }
  return distance;
}

/// Appends an edge to those in front of it, joined to the last one where they form one range.
void append_edge(CharEdge edge, std::vector<CharEdge>* edges) {
  if (!edges->empty() && edges->back().target == edge.target &&
      edges->back().last + 1 == edge.first) {
    edges->back().last = edge.last;
  } else {
    edges->push_back(edge);
  }
}

/// The automaton with each state replaced by its block; blocks are numbered in order of discovery.
CharDfa join_blocks(const CharDfa& dfa, const std::vector<uint32_t>& block_of) {
  std::vector<std::optional<int32_t>> number(dfa.states.size());
  std::vector<size_t> order;
  const auto number_of = [&](size_t state) {
    std::optional<int32_t>& slot = number[block_of[state]];
    if (!slot) {
      slot = static_cast<int32_t>(order.size());
      order.push_back(state);
    }
    return *slot;
  };
  CharDfa joined;
  number_of(0);
  for (size_t i = 0; i < order.size(); ++i) {
    CharState& state = joined.states.emplace_back();
    state.accepts = dfa.states[order[i]].accepts;
    for (CharEdge edge : dfa.states[order[i]].edges) {
      edge.target = number_of(static_cast<size_t>(edge.target));
      append_edge(edge, &state.edges);
    }
  }
  return joined;
}

CharDfa trimmed(const CharDfa& dfa, const std::vector<uint32_t>& distance) {
  CharDfa live;
  live.states.resize(dfa.states.size());
  std::vector<uint32_t> same(dfa.states.size());
  for (size_t s = 0; s < dfa.states.size(); ++s) {
    same[s] = static_cast<uint32_t>(s);
    live.states[s].accepts = dfa.states[s].accepts;
    for (const CharEdge& edge : dfa.states[s].edges) {
      if (distance[static_cast<size_t>(edge.target)] != kNever)
        live.states[s].edges.push_back(edge);
    }
  }
  return join_blocks(live, same);  // which also drops what cannot be reached
}

/// What tells states of one block apart: their edges, to blocks.
struct Signature {
  uint32_t block;
  std::vector<CharEdge> edges;
  bool operator==(const Signature&) const = default;
};

struct SignatureHash {
  size_t operator()(const Signature& signature) const {
    size_t hash = signature.block;
    const auto mix = [&hash](size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15u; };
    for (const CharEdge& edge : signature.edges) {
      mix(edge.first);
      mix(edge.last);
      mix(static_cast<size_t>(edge.target));
    }
    return hash ^ (hash >> 32);
  }
};

/// Moore's partition refinement, started from the distances to acceptance: those already tell the
/// states of long chains apart, which otherwise take a round each. nullopt: took too long.
std::optional<std::vector<uint32_t>> equivalent_states(const CharDfa& dfa) {
  std::vector<uint32_t> block_of = distances_to_accept(dfa);
  size_t num_blocks = 0, steps = 0;
  while (true) {
    std::unordered_map<Signature, uint32_t, SignatureHash> blocks;
    std::vector<uint32_t> refined(dfa.states.size());
    for (size_t s = 0; s < dfa.states.size(); ++s) {
      Signature signature{block_of[s], {}};
      for (CharEdge edge : dfa.states[s].edges) {
        edge.target = static_cast<int32_t>(block_of[static_cast<size_t>(edge.target)]);
        append_edge(edge, &signature.edges);
      }
      steps += 1 + dfa.states[s].edges.size();
      refined[s] = blocks.try_emplace(std::move(signature), static_cast<uint32_t>(blocks.size()))
                       .first->second;
    }
    block_of = std::move(refined);
    if (blocks.size() == num_blocks) return block_of;
    num_blocks = blocks.size();
    if (steps > kMaxMinimizationSteps) return std::nullopt;
  }
}

/// The states of a construction by what they stand for, in order of discovery.
template <class Key, class Hash>
class StateTable {
 public:
  int32_t number_of(const Key& key) {
    const auto [found, is_new] = numbers_.try_emplace(key, static_cast<int32_t>(keys_.size()));
    if (is_new) keys_.push_back(key);
    return found->second;
  }
  size_t size() const { return keys_.size(); }
  Key key(size_t number) const { return keys_[number]; }

 private:
  std::unordered_map<Key, int32_t, Hash> numbers_;
  std::vector<Key> keys_;
};

Error too_large() {
  return {ErrorCode::kGrammar,
          "needs an automaton of more than " + std::to_string(kMaxCharStates) + " states"};
}

constexpr int32_t kNoState = -1;  // second of a pair: `b` has no such continuation
using StatePair = std::pair<int32_t, int32_t>;

struct StatePairHash {
  size_t operator()(const StatePair& pair) const {
    return std::hash<uint64_t>()(static_cast<uint64_t>(static_cast<uint32_t>(pair.first)) << 32 |
                                 static_cast<uint32_t>(pair.second));
  }
};

/// Calls `visit(first, last, target of a, target of b or kNoState)` for the pieces of a's edges.
template <class Visit>
void overlay(const std::vector<CharEdge>& a, const std::vector<CharEdge>& b, Visit visit) {
  auto other = b.begin();
  for (const CharEdge& edge : a) {
    uint32_t first = edge.first;
    while (first <= edge.last) {
      while (other != b.end() && other->last < first) ++other;
      const bool is_inside = other != b.end() && other->first <= first;
      uint32_t last = edge.last;
      if (other != b.end()) last = std::min(last, is_inside ? other->last : other->first - 1);
      visit(first, last, edge.target, is_inside ? other->target : kNoState);
      first = last + 1;
    }
  }
}

/// Pairs of states of both. `b` may have no continuation only if `keeps_alone`.
template <class Accepts>
Result<CharDfa> product(const CharDfa& a, const CharDfa& b, bool keeps_alone, Accepts accepts) {
  const std::vector<CharEdge> no_edges;
  StateTable<StatePair, StatePairHash> table;
  table.number_of({0, 0});
  CharDfa dfa;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.size() > kMaxCharStates) return too_large();
    const auto [state_a, state_b] = table.key(i);
    const CharState& from = a.states[static_cast<size_t>(state_a)];
    const CharState* other =
        state_b == kNoState ? nullptr : &b.states[static_cast<size_t>(state_b)];
    CharState& state = dfa.states.emplace_back();
    state.accepts = accepts(from.accepts, other != nullptr && other->accepts);
    overlay(from.edges, other == nullptr ? no_edges : other->edges,
            [&](uint32_t first, uint32_t last, int32_t target_a, int32_t target_b) {
              if (target_b == kNoState && !keeps_alone) return;
              append_edge({first, last, table.number_of({target_a, target_b})}, &state.edges);
            });
  }
  return minimized(dfa);
}

}  // namespace

bool CharDfa::accepts(std::string_view text) const {
  size_t state = 0;
  for (size_t pos = 0; pos < text.size();) {
    const Utf8Char c = char_at(text, pos);
    pos += c.num_bytes;
    const auto& edges = states[state].edges;
    const auto after =
        std::upper_bound(edges.begin(), edges.end(), c.code_point,
                         [](uint32_t value, const CharEdge& edge) { return value < edge.first; });
    if (after == edges.begin() || (after - 1)->last < c.code_point) return false;
    state = static_cast<size_t>((after - 1)->target);
  }
  return states[state].accepts;
}

CharDfa any_string() {
  CharState state;
  for (const CharRange& range : any_char()) state.edges.push_back({range.first, range.last, 0});
  state.accepts = true;
  return {{state}};
}

CharDfa minimized(const CharDfa& dfa) {
  const CharDfa live = trimmed(dfa, distances_to_accept(dfa));
  const auto block_of = equivalent_states(live);
  return block_of ? join_blocks(live, *block_of) : live;
}

Result<CharDfa> intersection(const CharDfa& a, const CharDfa& b) {
  return product(a, b, false, [](bool in_a, bool in_b) { return in_a && in_b; });
}

Result<CharDfa> difference(const CharDfa& a, const CharDfa& b) {
  return product(a, b, true, [](bool in_a, bool in_b) { return in_a && !in_b; });
}

Result<CharDfa> with_length(const CharDfa& dfa, UnitBounds bounds) {
  if (bounds == UnitBounds{}) return dfa;
  // The count stands still where no bound can tell any more.
  const bool has_max = bounds.max != UnitBounds::kUnbounded;
  const uint32_t last_count = has_max ? bounds.max : bounds.min;
  if (last_count > kMaxCharStates) return too_large();
  StateTable<StatePair, StatePairHash> table;  // state, count
  table.number_of({0, 0});
  CharDfa counted;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.size() > kMaxCharStates) return too_large();
    const auto [from, count] = table.key(i);
    CharState& state = counted.states.emplace_back();
    state.accepts =
        dfa.states[static_cast<size_t>(from)].accepts && static_cast<uint32_t>(count) >= bounds.min;
    const bool is_full = static_cast<uint32_t>(count) == last_count;
    if (is_full && has_max) continue;
    for (CharEdge edge : dfa.states[static_cast<size_t>(from)].edges) {
      edge.target = table.number_of({edge.target, is_full ? count : count + 1});
      append_edge(edge, &state.edges);
    }
  }
  return minimized(counted);
}

}  // namespace wl::grammar
