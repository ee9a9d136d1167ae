#include "grammar/automaton.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "grammar/mask_bits.h"

namespace wl::grammar {
namespace {

// A pattern with many states could keep a mask each; beyond this the cache starts anew.
constexpr size_t kMaxScanBytes = size_t{64} << 20;
constexpr size_t kBitsPerWord = 32;

/// Breadth first from the accepting states, backwards; what begins no unit costs nothing.
std::vector<uint32_t> units_left_of(const ByteDfa& dfa) {
  constexpr uint32_t kNever = UnitBounds::kUnbounded;
  struct Source {
    size_t state;
    uint32_t num_units;
  };
  std::vector<std::vector<Source>> sources(dfa.states.size());
  std::vector<uint32_t> left(dfa.states.size(), kNever);
  std::deque<size_t> queue;
  for (size_t state = 0; state < dfa.states.size(); ++state) {
    for (const ByteEdge& edge : dfa.states[state].edges) {
      const uint32_t num_units = edge.kind == EdgeKind::kStartsUnit ? 1 : 0;
      sources[static_cast<size_t>(edge.target)].push_back({state, num_units});
    }
    if (!dfa.states[state].accepts) continue;
    left[state] = 0;
    queue.push_back(state);
  }
  while (!queue.empty()) {
    const size_t state = queue.front();
    queue.pop_front();
    for (const Source& source : sources[state]) {
      if (left[source.state] <= left[state] + source.num_units) continue;
      left[source.state] = left[state] + source.num_units;
      source.num_units == 0 ? queue.push_front(source.state) : queue.push_back(source.state);
    }
  }
  std::ranges::replace(left, kNever, 0u);  // a dead state, which there should not be
  return left;
}

}  // namespace

Automaton::Automaton(std::shared_ptr<const ByteDfa> dfa, const TokenTrie& trie, size_t vocab)
    : dfa_(std::move(dfa)), units_left_(units_left_of(*dfa_)), trie_(trie), vocab_(vocab) {}

const ByteEdge* find_edge(const ByteState& state, uint8_t byte) {
  const auto it = std::ranges::lower_bound(state.edges, byte, {}, &ByteEdge::last);
  return it != state.edges.end() && it->first <= byte ? &*it : nullptr;
}

TokenScan::TokenScan(const ByteDfa& dfa, std::span<const uint32_t> units_left, int32_t state,
                     const TokenTrie& trie, int32_t trie_node, size_t vocab) {
  struct Level {  // a node on the path, seen from its children
    int32_t end, state;
    uint32_t num_units, room;
    bool is_closed;
  };
  std::vector<CountedToken> open;
  std::vector<Level> path = {{trie.end(trie_node), state, 0, 0, false}};
  int32_t at = trie_node + 1;
  while (true) {
    while (!path.empty() && at == path.back().end) path.pop_back();
    if (path.empty()) break;
    Level level = path.back();
    const ByteEdge* edge = find_edge(dfa.states[static_cast<size_t>(level.state)], trie.byte(at));
    level.end = trie.end(at);
    if (edge == nullptr) {
      at = level.end;
      continue;
    }
    level.state = edge->target;
    level.num_units += edge->kind == EdgeKind::kStartsUnit ? 1 : 0;
    level.room =
        std::max(level.room, level.num_units + units_left[static_cast<size_t>(level.state)]);
    level.is_closed |= edge->kind == EdgeKind::kEndsUnits;
    for (const TokenId token : trie.tokens(at)) {
      (level.is_closed ? closing_ : open).push_back({token, level.num_units, level.room});
    }
    const bool has_children = level.end > at + 1;
    if (has_children && dfa.states[static_cast<size_t>(level.state)].accepts) {
      exits_.push_back({at, level.num_units, level.room});
    }
    path.push_back(level);
    ++at;
  }
  sort_open(std::move(open), vocab);
}

void TokenScan::sort_open(std::vector<CountedToken> open, size_t vocab) {
  std::ranges::stable_sort(open, {}, &CountedToken::room);
  open_.reserve(open.size());
  for (const CountedToken& counted : open) {
    while (open_within_.size() < counted.room) {
      open_within_.push_back(static_cast<uint32_t>(open_.size()));
    }
    open_.push_back(counted.token);
  }
  open_within_.push_back(static_cast<uint32_t>(open_.size()));
  const size_t num_words = (vocab + kBitsPerWord - 1) / kBitsPerWord;
  if (open_.size() < num_words) return;
  open_mask_.resize(num_words);
  for (const TokenId token : open_) set_bit(open_mask_, token);
}

void TokenScan::add_tokens(std::span<uint32_t> mask, uint32_t num_units, UnitBounds bounds) const {
  const uint32_t num_left =
      bounds.max == UnitBounds::kUnbounded ? UnitBounds::kUnbounded : bounds.max - num_units;
  add_open_tokens(mask, num_left);
  for (const CountedToken& token : closing_) {
    if (token.room > num_left) continue;
    if (num_units + uint64_t{token.num_units} >= bounds.min) set_bit(mask, token.token);
  }
}

void TokenScan::add_open_tokens(std::span<uint32_t> mask, uint32_t num_left) const {
  const size_t num_open = num_left < open_within_.size() ? open_within_[num_left] : open_.size();
  if (open_mask_.empty() || num_open < open_.size() / 2) {
    for (size_t i = 0; i < num_open; ++i) set_bit(mask, open_[i]);
    return;
  }
  // Few tokens are long, so taking them away from all of them is the shorter way.
  std::vector<uint32_t> open = open_mask_;
  for (size_t i = num_open; i < open_.size(); ++i) {
    open[static_cast<size_t>(open_[i]) / kBitsPerWord] &=
        ~(1u << (static_cast<uint32_t>(open_[i]) % kBitsPerWord));
  }
  for (size_t word = 0; word < open.size(); ++word) mask[word] |= open[word];
}

size_t TokenScan::num_bytes() const {
  return open_.size() * sizeof(TokenId) + (open_within_.size() + open_mask_.size()) * 4 +
         closing_.size() * sizeof(CountedToken) + exits_.size() * sizeof(Exit);
}

std::shared_ptr<const TokenScan> Automaton::scan(int32_t state, int32_t trie_node) {
  const uint64_t key =
      uint64_t{static_cast<uint32_t>(state)} << 32 | static_cast<uint32_t>(trie_node);
  const std::lock_guard lock(mutex_);
  if (const auto it = scans_.find(key); it != scans_.end()) return it->second;
  auto scan =
      std::make_shared<const TokenScan>(*dfa_, units_left_, state, trie_, trie_node, vocab_);
  num_bytes_ += scan->num_bytes() + 256;  // and the entry itself, roughly
  if (num_bytes_ > kMaxScanBytes) {
    scans_.clear();
    num_bytes_ = 0;
  }
  scans_[key] = scan;
  return scan;
}

}  // namespace wl::grammar
