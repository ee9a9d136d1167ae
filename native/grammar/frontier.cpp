#include "grammar/frontier.h"

#include <algorithm>
#include <utility>

namespace wl::grammar {
namespace {

// Real grammars have a few dozen (an object's optional members); ambiguous ones grow without end.
constexpr size_t kMaxElements = 10'000;

/// Mixes two words; formula: splitmix64's finisher.
uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t pack(int32_t high, uint32_t low) {
  return uint64_t{static_cast<uint32_t>(high)} << 32 | low;
}

uint64_t hash_of(const Stack& stack) { return stack == nullptr ? 0 : stack->hash; }

}  // namespace

Frame::Frame(int32_t node, uint32_t count, Stack parent)
    : node(node),
      count(count),
      hash(mix(hash_of(parent), pack(node, count))),
      parent(std::move(parent)) {}

/// A deep stack is released in a loop, not by recursion.
Frame::~Frame() {
  Stack next = std::move(parent);
  while (next != nullptr && next.use_count() == 1) {
    next = std::move(const_cast<Frame&>(*next).parent);
  }
}

bool is_same_stack(const Stack& a, const Stack& b) {
  const Frame *left = a.get(), *right = b.get();
  while (left != right) {
    if (left == nullptr || right == nullptr || left->hash != right->hash) return false;
    if (left->node != right->node || left->count != right->count) return false;
    left = left->parent.get();
    right = right->parent.get();
  }
  return true;
}

bool Element::operator==(const Element& other) const {
  return node == other.node && state == other.state && num_units == other.num_units &&
         is_same_stack(stack, other.stack);
}

uint64_t Element::hash() const {
  return mix(mix(hash_of(stack), pack(node, num_units)), static_cast<uint64_t>(state));
}

bool can_end(const Program& program, const Element& element) {
  const Node& node = program.node(element.node);
  return program.automaton_state(node, element.state).accepts &&
         element.num_units >= node.bounds.min;
}

bool fits(const Program& program, const Node& match, uint32_t num_units, const ByteEdge& edge) {
  if (edge.kind == EdgeKind::kEndsUnits && num_units < match.bounds.min) return false;
  if (match.bounds.max == UnitBounds::kUnbounded) return true;
  const uint64_t begun = uint64_t{num_units} + (edge.kind == EdgeKind::kStartsUnit ? 1 : 0);
  return begun + program.automaton(match).units_left(edge.target) <= match.bounds.max;
}

void FrontierBuilder::enter(int32_t node, Stack stack) {
  steps_.push_back({node, std::move(stack)});
  run();
}

void FrontierBuilder::run() {
  while (!steps_.empty()) {
    Step step = std::move(steps_.back());
    steps_.pop_back();
    if (!frontier_.has_overflowed && is_new(step)) visit(std::move(step));
  }
}

/// Ways that meet again go on once.
bool FrontierBuilder::is_new(const Step& step) {
  const uint64_t hash = mix(hash_of(step.stack), static_cast<uint64_t>(step.node));
  const bool is_known = visited_index_.contains(hash, [&](size_t i) {
    return visited_[i].node == step.node && is_same_stack(visited_[i].stack, step.stack);
  });
  if (is_known) return false;
  frontier_.has_overflowed |= visited_.size() == kMaxElements;
  visited_.push_back(step);
  visited_index_.add(hash);
  return true;
}

void FrontierBuilder::visit(Step step) {
  const Node& node = program_.node(step.node);
  switch (node.kind) {
    case NodeKind::kLiteral:
    case NodeKind::kToken:
      return add({step.node, 0, 0, std::move(step.stack)});
    case NodeKind::kMatch:
      return add_match(step.node, 0, 0, step.stack);
    case NodeKind::kBranch:
      for (const int32_t target : program_.targets(node)) steps_.push_back({target, step.stack});
      return;
    case NodeKind::kCall: {
      // A call that ends its own rule needs no way back, so a list's tail adds no depth.
      const bool is_tail = program_.node(node.next).kind == NodeKind::kReturn;
      Stack stack = is_tail ? std::move(step.stack)
                            : std::make_shared<const Frame>(step.node, 0, std::move(step.stack));
      return steps_.push_back({node.index, std::move(stack)});
    }
    case NodeKind::kReturn:
      return steps_.push_back({program_.node(step.stack->node).next, step.stack->parent});
    case NodeKind::kLoop: {
      if (node.bounds.min == 0) steps_.push_back({node.next, step.stack});
      auto frame = std::make_shared<const Frame>(step.node, 0, std::move(step.stack));
      new_rounds_.push_back(frame);
      return steps_.push_back({node.index, std::move(frame)});
    }
    case NodeKind::kLoopBack:
      return close_round(program_.node(node.index), step.stack);
    case NodeKind::kEnd:
      frontier_.is_complete = true;
      return;
  }
}

void FrontierBuilder::close_round(const Node& loop, const Stack& stack) {
  // A round that took no text: all that may follow has been entered with the loop itself.
  if (std::ranges::find(new_rounds_, stack) != new_rounds_.end()) return;
  const uint32_t num_rounds = stack->count + 1;
  if (num_rounds >= loop.bounds.min) steps_.push_back({loop.next, stack->parent});
  if (num_rounds >= loop.bounds.max) return;
  const bool is_counted = loop.bounds.max != UnitBounds::kUnbounded || num_rounds < loop.bounds.min;
  auto frame = std::make_shared<const Frame>(stack->node, is_counted ? num_rounds : loop.bounds.min,
                                             stack->parent);
  new_rounds_.push_back(frame);
  steps_.push_back({loop.index, std::move(frame)});
}

void FrontierBuilder::step(const Element& element, uint8_t byte) {
  const Node& node = program_.node(element.node);
  if (node.kind == NodeKind::kLiteral) {
    const std::string_view literal = program_.literal(node);
    const auto at = static_cast<size_t>(element.state);
    if (static_cast<uint8_t>(literal[at]) != byte) return;
    if (at + 1 == literal.size()) return enter(node.next, element.stack);
    return add({element.node, element.state + 1, 0, element.stack});
  }
  if (node.kind != NodeKind::kMatch) return;
  const ByteEdge* edge = find_edge(program_.automaton_state(node, element.state), byte);
  if (edge == nullptr || !fits(program_, node, element.num_units, *edge)) return;
  uint32_t num_units = element.num_units;
  if (edge->kind == EdgeKind::kStartsUnit) {
    if (node.bounds.max != UnitBounds::kUnbounded || num_units < node.bounds.min) ++num_units;
  }
  add_match(element.node, edge->target, num_units, element.stack);
  run();
}

void FrontierBuilder::add_match(int32_t node, int32_t state, uint32_t num_units,
                                const Stack& stack) {
  Element element{node, state, num_units, stack};
  if (can_end(program_, element)) steps_.push_back({program_.node(node).next, stack});
  if (!program_.automaton_state(program_.node(node), state).edges.empty()) {
    add(std::move(element));
  }
}

void FrontierBuilder::add(Element element) {
  std::vector<Element>& elements = frontier_.elements;
  const uint64_t hash = element.hash();
  if (element_index_.contains(hash, [&](size_t i) { return elements[i] == element; })) return;
  frontier_.has_overflowed |= elements.size() == kMaxElements;
  elements.push_back(std::move(element));
  element_index_.add(hash);
}

Frontier FrontierBuilder::take() {
  element_index_.clear();
  visited_.clear();
  visited_index_.clear();
  new_rounds_.clear();
  return std::exchange(frontier_, {});
}

}  // namespace wl::grammar
