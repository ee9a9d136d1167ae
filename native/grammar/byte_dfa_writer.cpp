#include "grammar/byte_dfa_writer.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace wl::grammar {
namespace {

uint32_t last_of_length(size_t num_bytes) {
  constexpr std::array<uint32_t, 5> kLast = {0, 0x7f, 0x7ff, 0xffff, kMaxCodePoint};
  return kLast[num_bytes];
}

ByteSequence sequence_of(uint32_t first, uint32_t last, size_t num_bytes, int32_t target) {
  std::string low, high;
  append_utf8(first, &low);
  append_utf8(last, &high);
  ByteSequence sequence;
  sequence.length = num_bytes;
  sequence.target = target;
  for (size_t i = 0; i < num_bytes; ++i) {
    sequence.bytes[i] = {static_cast<uint8_t>(low[i]), static_cast<uint8_t>(high[i])};
  }
  return sequence;
}

}  // namespace

/// Cuts the edge so that in each piece every byte runs through its range independently: first at
/// the lengths of UTF-8 forms, then where all lower six-bit groups run from zero to all ones.
void append_sequences(const CharEdge& edge, std::vector<ByteSequence>* out) {
  uint32_t first = edge.first;
  while (first <= edge.last) {
    size_t num_bytes = 1;
    while (last_of_length(num_bytes) < first) ++num_bytes;
    uint32_t last = std::min(edge.last, last_of_length(num_bytes));
    for (size_t group = 1; group < num_bytes; ++group) {
      const uint32_t low_bits = (1u << (6 * group)) - 1;
      if ((first & ~low_bits) == (last & ~low_bits)) continue;
      if ((first & low_bits) != 0) {
        last = first | low_bits;
      } else if ((last & low_bits) != low_bits) {
        last = (last & ~low_bits) - 1;
      }
    }
    out->push_back(sequence_of(first, last, num_bytes, edge.target));
    first = last + 1;
  }
}

int32_t ByteDfaWriter::state_with(std::vector<ByteEdge> edges, bool accepts) {
  Content content{accepts, {}};
  for (const ByteEdge& edge : edges) {
    content.second.emplace_back(edge.first, edge.last, edge.target);
  }
  const auto [found, is_new] =
      inner_.try_emplace(std::move(content), static_cast<int32_t>(dfa_.states.size()));
  if (is_new) dfa_.states.push_back({std::move(edges), accepts});
  return found->second;
}

std::vector<ByteEdge> ByteDfaWriter::edges_for(std::span<const ByteSequence> sequences,
                                               size_t depth) {
  std::vector<ByteEdge> edges;
  for (size_t begin = 0; begin < sequences.size();) {
    const ByteRange range = sequences[begin].bytes[depth];
    size_t end = begin + 1;
    while (end < sequences.size() && sequences[end].bytes[depth] == range) ++end;
    const auto group = sequences.subspan(begin, end - begin);
    const int32_t target =
        group[0].length == depth + 1 ? group[0].target : state_with(edges_for(group, depth + 1));
    if (!edges.empty() && edges.back().target == target && edges.back().last + 1 == range.first) {
      edges.back().last = range.last;
    } else {
      edges.push_back({range.first, range.last, EdgeKind::kPlain, target});
    }
    begin = end;
  }
  return edges;
}

}  // namespace wl::grammar
