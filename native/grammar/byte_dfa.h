#pragma once
// A deterministic automaton over bytes: the leaf of a grammar, such as "rest of a JSON string",
// "number", or "text up to a marker". Plain data; byte_dfa.cpp checks it.

#include <cstdint>
#include <limits>
#include <vector>

namespace wl::grammar {

/// What a byte does to the count of units (characters) of a counted automaton.
enum class EdgeKind : uint8_t {
  kPlain,
  kStartsUnit,  // begins one more unit
  kEndsUnits,   // closes the units (a closing quote): not taken below the minimum
};

struct ByteEdge {
  uint8_t first = 0, last = 0;  // the bytes that take it, inclusive
  EdgeKind kind = EdgeKind::kPlain;
  int32_t target = 0;
};

struct ByteState {
  std::vector<ByteEdge> edges;  // ascending, no two share a byte
  bool accepts = false;         // the text read so far may be all; never of counted units < minimum
};

/// State 0 is the start. Every state is reachable and leads to one that accepts, so no partial
/// match is a dead end.
struct ByteDfa {
  std::vector<ByteState> states;
};

/// Bounds on the number of units, by which no partial match becomes a dead end: a byte is not taken
/// if the text could not end any more without passing the maximum. Precondition of a minimum:
/// between two units another one can always begin; a minimum without this shape is a product
/// automaton.
struct UnitBounds {
  static constexpr uint32_t kUnbounded = std::numeric_limits<uint32_t>::max();
  uint32_t min = 0, max = kUnbounded;
  bool operator==(const UnitBounds&) const = default;
};

}  // namespace wl::grammar
