#include "grammar/encoded_dfa.h"

#include <algorithm>
#include <array>
#include <utility>

#include "grammar/byte_dfa_writer.h"

namespace wl::grammar {
namespace {

/// What JSON.stringify writes behind the backslash; 0: `u` and four digits.
char short_escape(uint32_t c) {
  switch (c) {
    case '"':
    case '\\':
      return static_cast<char>(c);
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

bool needs_escape(uint32_t c) { return c < 0x20 || c == '"' || c == '\\'; }

char hex_digit(uint32_t value) { return "0123456789abcdef"[value & 15]; }

ByteEdge byte_edge(char byte, int32_t target) {
  const auto value = static_cast<uint8_t>(byte);
  return {value, value, EdgeKind::kPlain, target};
}

void sort_edges(std::vector<ByteEdge>* edges) {
  std::sort(edges->begin(), edges->end(),
            [](const ByteEdge& a, const ByteEdge& b) { return a.first < b.first; });
}

/// The state behind a backslash, for the characters among these edges that are escaped.
class EscapeEdges {
 public:
  explicit EscapeEdges(ByteDfaWriter* writer) : writer_(writer) {}

  void add(uint32_t c, int32_t target) {
    if (const char escape = short_escape(c)) {
      short_.push_back(byte_edge(escape, target));
    } else {
      hex_[c >> 4].push_back(byte_edge(hex_digit(c), target));
    }
  }

  bool is_empty() const { return short_.empty() && hex_[0].empty() && hex_[1].empty(); }

  int32_t make_state() {
    std::vector<ByteEdge> edges = std::move(short_);
    std::vector<ByteEdge> third;
    for (uint32_t high = 0; high < 2; ++high) {
      if (hex_[high].empty()) continue;
      sort_edges(&hex_[high]);
      third.push_back(byte_edge(hex_digit(high), writer_->state_with(hex_[high])));
    }
    if (!third.empty()) {
      const int32_t second = writer_->state_with({byte_edge('0', writer_->state_with(third))});
      edges.push_back(byte_edge('u', writer_->state_with({byte_edge('0', second)})));
    }
    sort_edges(&edges);
    return writer_->state_with(std::move(edges));
  }

 private:
  ByteDfaWriter* writer_;
  std::vector<ByteEdge> short_;
  std::array<std::vector<ByteEdge>, 2> hex_;  // by the third hex digit
};

/// The edges of one state that write its characters.
std::vector<ByteEdge> json_edges(const std::vector<CharEdge>& edges, ByteDfaWriter* writer) {
  EscapeEdges escapes(writer);
  std::vector<ByteSequence> sequences;
  const auto add_plain = [&](uint32_t first, uint32_t last, int32_t target) {
    if (first <= last) append_sequences({first, last, target}, &sequences);
  };
  for (const CharEdge& edge : edges) {
    uint32_t first = edge.first;
    for (uint32_t c = first; c <= std::min<uint32_t>(edge.last, '\\'); ++c) {
      if (!needs_escape(c)) continue;
      escapes.add(c, edge.target);
      if (c > first) add_plain(first, c - 1, edge.target);
      first = c + 1;
    }
    add_plain(first, edge.last, edge.target);
  }
  std::vector<ByteEdge> out = writer->edges_for(sequences, 0);
  if (!escapes.is_empty()) out.push_back(byte_edge('\\', escapes.make_state()));
  sort_edges(&out);
  return out;
}

void append_escaped(char c, std::string* out) {
  const auto byte = static_cast<unsigned char>(c);
  if (!needs_escape(byte)) {
    out->push_back(c);
    return;
  }
  out->push_back('\\');
  if (const char escape = short_escape(byte)) {
    out->push_back(escape);
  } else {
    *out += {'u', '0', '0', hex_digit(byte >> 4), hex_digit(byte)};
  }
}

/// Joins equal states of a tree whose states stand behind their parents.
ByteDfa with_shared_endings(ByteDfa trie) {
  ByteDfaWriter writer(1);
  std::vector<int32_t> shared(trie.states.size());
  for (size_t s = trie.states.size(); s-- > 0;) {
    ByteState& state = trie.states[s];
    for (ByteEdge& edge : state.edges) edge.target = shared[static_cast<size_t>(edge.target)];
    if (s == 0) {
      writer.state(0) = std::move(state);
    } else {
      shared[s] = writer.state_with(std::move(state.edges), state.accepts);
    }
  }
  return writer.take();
}

}  // namespace

ByteDfa encoded_dfa(const CharDfa& dfa) {
  ByteDfaWriter writer(dfa.states.size());
  for (size_t s = 0; s < dfa.states.size(); ++s) {
    std::vector<ByteSequence> sequences;
    for (const CharEdge& edge : dfa.states[s].edges) append_sequences(edge, &sequences);
    std::vector<ByteEdge> edges = writer.edges_for(sequences, 0);
    writer.state(s) = {std::move(edges), dfa.states[s].accepts};
  }
  return writer.take();
}

ByteDfa json_string_rest_dfa(const CharDfa& dfa, CountUnits count_units) {
  const bool counts = count_units == CountUnits::kYes;
  const size_t end = dfa.states.size();  // behind the closing quote
  ByteDfaWriter writer(end + 1);
  writer.state(end).accepts = true;
  for (size_t s = 0; s < end; ++s) {
    std::vector<ByteEdge> edges = json_edges(dfa.states[s].edges, &writer);
    for (ByteEdge& edge : edges) edge.kind = counts ? EdgeKind::kStartsUnit : EdgeKind::kPlain;
    if (dfa.states[s].accepts) {
      ByteEdge quote = byte_edge('"', static_cast<int32_t>(end));
      quote.kind = counts ? EdgeKind::kEndsUnits : EdgeKind::kPlain;
      edges.push_back(quote);
      sort_edges(&edges);
    }
    writer.state(s).edges = std::move(edges);
  }
  return writer.take();
}

ByteDfa json_chars_dfa(const CharDfa& dfa) {
  ByteDfaWriter writer(dfa.states.size());
  for (size_t s = 0; s < dfa.states.size(); ++s) {
    std::vector<ByteEdge> edges = json_edges(dfa.states[s].edges, &writer);
    writer.state(s) = {std::move(edges), dfa.states[s].accepts};
  }
  return writer.take();
}

ByteDfa literals_dfa(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  ByteDfa trie;
  trie.states.emplace_back();
  for (const std::string& text : texts) {
    size_t state = 0;
    for (const char byte : text) {
      const auto value = static_cast<uint8_t>(byte);
      std::vector<ByteEdge>& edges = trie.states[state].edges;
      if (edges.empty() || edges.back().first != value) {
        edges.push_back(byte_edge(byte, static_cast<int32_t>(trie.states.size())));
        state = trie.states.size();
        trie.states.emplace_back();
      } else {
        state = static_cast<size_t>(edges.back().target);
      }
    }
    trie.states[state].accepts = true;
  }
  return with_shared_endings(std::move(trie));
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) append_escaped(c, &out);
  out.push_back('"');
  return out;
}

}  // namespace wl::grammar
