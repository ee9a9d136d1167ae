#include "grammar/repeated_dfa.h"

namespace wl::grammar {
namespace {

bool has_clear_ends(const ByteDfa& dfa) {
  if (dfa.states.empty() || dfa.states[0].accepts) return false;
  for (const ByteState& state : dfa.states) {
    if (state.accepts && !state.edges.empty()) return false;
    for (const ByteEdge& edge : state.edges) {
      // Back at the start in the middle of a text: what begins there is no new unit.
      if (edge.kind != EdgeKind::kPlain || edge.target == 0) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<ByteDfa> repeated_dfa(const ByteDfa& dfa) {
  if (!has_clear_ends(dfa)) return std::nullopt;
  ByteDfa repeated = dfa;
  for (ByteState& state : repeated.states) {
    for (ByteEdge& edge : state.edges) {
      if (dfa.states[static_cast<size_t>(edge.target)].accepts) edge.target = 0;
    }
    state.accepts = false;
  }
  repeated.states[0].accepts = true;
  for (ByteEdge& edge : repeated.states[0].edges) edge.kind = EdgeKind::kStartsUnit;
  return repeated;
}

}  // namespace wl::grammar
