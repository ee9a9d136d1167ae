#include "grammar/text_dfa.h"

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

namespace wl::grammar {
namespace {

constexpr int kNumBytes = 256;

struct MarkerState {
  std::array<int32_t, kNumBytes> next;
  int32_t fallback = 0;  // the longest proper suffix of this text that begins a marker
  bool ends_until = false, ends_excluded = false;
  MarkerState() { next.fill(-1); }
};

class MarkerAutomaton {
 public:
  MarkerAutomaton(const std::string& until, std::span<const std::string> excluding) : states_(1) {
    if (!until.empty()) states_[add(until)].ends_until = true;
    for (const std::string& marker : excluding) states_[add(marker)].ends_excluded = true;
    complete();
  }
  const std::vector<MarkerState>& states() const { return states_; }

 private:
  size_t add(const std::string& marker) {
    size_t at = 0;
    for (const char c : marker) {
      const auto byte = static_cast<unsigned char>(c);
      if (states_[at].next[byte] < 0) {
        states_[at].next[byte] = static_cast<int32_t>(states_.size());
        states_.emplace_back();
      }
      at = static_cast<size_t>(states_[at].next[byte]);
    }
    return at;
  }

  /// Breadth first, so that a state's fallback is complete before the state.
  void complete() {
    std::deque<size_t> queue = {0};
    for (; !queue.empty(); queue.pop_front()) {
      const size_t at = queue.front();
      const auto fallback = static_cast<size_t>(states_[at].fallback);
      for (size_t byte = 0; byte < kNumBytes; ++byte) {
        const int32_t through_fallback = at == 0 ? 0 : states_[fallback].next[byte];
        int32_t& next = states_[at].next[byte];
        if (next < 0) {
          next = through_fallback;
          continue;
        }
        MarkerState& child = states_[static_cast<size_t>(next)];
        child.fallback = through_fallback;
        const MarkerState& suffix = states_[static_cast<size_t>(through_fallback)];
        child.ends_until |= suffix.ends_until;
        child.ends_excluded |= suffix.ends_excluded;
        queue.push_back(static_cast<size_t>(next));
      }
    }
  }

  std::vector<MarkerState> states_;
};

/// Equal neighbours in one edge; bytes that complete an excluded marker have none.
std::vector<ByteEdge> edges_of(const MarkerState& state, const std::vector<MarkerState>& states) {
  std::vector<ByteEdge> edges;
  for (int byte = 0; byte < kNumBytes; ++byte) {
    const int32_t target = state.next[static_cast<size_t>(byte)];
    if (states[static_cast<size_t>(target)].ends_excluded) continue;
    const auto value = static_cast<uint8_t>(byte);
    if (!edges.empty() && edges.back().target == target && edges.back().last + 1 == byte) {
      edges.back().last = value;
    } else {
      edges.push_back({value, value, EdgeKind::kPlain, target});
    }
  }
  return edges;
}

}  // namespace

ByteDfa text_dfa(const std::string& until, std::span<const std::string> excluding) {
  const MarkerAutomaton markers(until, excluding);
  ByteDfa dfa;
  for (const MarkerState& state : markers.states()) {
    ByteState& out = dfa.states.emplace_back();
    out.accepts = until.empty() || state.ends_until;
    if (!state.ends_until && !state.ends_excluded) out.edges = edges_of(state, markers.states());
  }
  return dfa;
}

}  // namespace wl::grammar
