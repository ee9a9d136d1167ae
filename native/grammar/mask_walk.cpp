#include "grammar/mask_walk.h"

#include "grammar/mask_bits.h"

namespace wl::grammar {
namespace {

// Ways that meet again are rare; only a walk that grows long looks out for them.
constexpr size_t kWalksBeforeCheck = 10'000;
// Real grammars take some hundreds; a hostile one must not hold up the requests beside it.
constexpr size_t kMaxWalks = 200'000;

}  // namespace

size_t MaskWalk::PlaceHash::operator()(const Place& place) const {
  return place.element.hash() ^ static_cast<size_t>(place.trie_node) * 0x9e3779b97f4a7c15u;
}

bool MaskWalk::is_new(const Element& element, int32_t trie_node) {
  if (++num_walks_ > kMaxWalks) return false;
  if (num_walks_ <= kWalksBeforeCheck) return true;
  return visited_.insert({trie_node, element}).second;
}

bool MaskWalk::add(const Frontier& frontier) {
  for (const Element& element : frontier.elements) {
    const Node& node = program_.node(element.node);
    if (node.kind == NodeKind::kToken) {
      set_bit(mask_, node.index);
    } else {
      walk(element, TokenTrie::kRoot);
    }
  }
  return num_walks_ <= kMaxWalks;
}

void MaskWalk::walk(const Element& element, int32_t trie_node) {
  if (num_walks_ > kMaxWalks) return;
  switch (program_.node(element.node).kind) {
    case NodeKind::kLiteral:
      return walk_literal(element, trie_node);
    case NodeKind::kMatch:
      return walk_match(element, trie_node);
    default:
      return;  // a special token is no part of another token
  }
}

void MaskWalk::walk_literal(const Element& element, int32_t trie_node) {
  const Node& node = program_.node(element.node);
  const std::string_view rest = program_.literal(node).substr(static_cast<size_t>(element.state));
  for (const char c : rest) {
    trie_node = trie_.child(trie_node, static_cast<uint8_t>(c));
    if (trie_node < 0) return;
    set_tokens(trie_node);
  }
  if (trie_.end(trie_node) == trie_node + 1 || !is_new(element, trie_node)) return;
  FrontierBuilder builder(program_);
  builder.enter(node.next, element.stack);
  for (const Element& next : builder.take().elements) walk(next, trie_node);
}

void MaskWalk::walk_match(const Element& element, int32_t trie_node) {
  if (trie_node != TokenTrie::kRoot && !is_new(element, trie_node)) return;
  const Node& node = program_.node(element.node);
  const auto scan = program_.automaton(node).scan(element.state, trie_node);
  scan->add_tokens(mask_, element.num_units, node.bounds);
  if (scan->exits().empty()) return;
  FrontierBuilder builder(program_);
  builder.leave(element);
  const Frontier behind = builder.take();
  if (behind.elements.empty()) return;
  for (const TokenScan::Exit& exit : scan->exits()) {
    const uint64_t num_units = uint64_t{element.num_units} + exit.num_units;
    const bool is_above = node.bounds.max != UnitBounds::kUnbounded &&
                          uint64_t{element.num_units} + exit.room > node.bounds.max;
    if (num_units < node.bounds.min || is_above) continue;
    for (const Element& next : behind.elements) walk(next, exit.trie_node);
  }
}

void MaskWalk::set_tokens(int32_t trie_node) {
  for (const TokenId token : trie_.tokens(trie_node)) set_bit(mask_, token);
}

}  // namespace wl::grammar
