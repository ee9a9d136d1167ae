#pragma once
// Writes byte automata for texts of characters: the edges of a character automaton become paths
// over the bytes of UTF-8.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "grammar/byte_dfa.h"
#include "grammar/char_dfa.h"

namespace wl::grammar {

struct ByteRange {
  uint8_t first = 0, last = 0;
  bool operator==(const ByteRange&) const = default;
};

/// A run of characters whose UTF-8 forms are all combinations of these byte ranges.
struct ByteSequence {
  std::array<ByteRange, 4> bytes;
  size_t length = 0;
  int32_t target = 0;
};

/// The sequences of an edge's characters, ascending.
void append_sequences(const CharEdge& edge, std::vector<ByteSequence>* out);

/// An automaton of some states of the caller's and of inner ones, of which equal ones are one
/// state.
class ByteDfaWriter {
 public:
  explicit ByteDfaWriter(size_t num_states) { dfa_.states.resize(num_states); }

  /// A state with these edges, which are kPlain.
  int32_t state_with(std::vector<ByteEdge> edges, bool accepts = false);
  /// The edges that read one of the sequences from byte `depth` on; all begin alike before it.
  std::vector<ByteEdge> edges_for(std::span<const ByteSequence> sequences, size_t depth);

  ByteState& state(size_t index) { return dfa_.states[index]; }
  ByteDfa take() { return std::move(dfa_); }

 private:
  using Content = std::pair<bool, std::vector<std::tuple<uint8_t, uint8_t, int32_t>>>;

  ByteDfa dfa_;
  std::map<Content, int32_t> inner_;
};

}  // namespace wl::grammar
