#pragma once
// Where a text can stand in a program: a set of elements, each a node with the stack of calls and
// loops around it. Stacks are shared, immutable lists; a frontier is a value.

#include <cstdint>
#include <memory>
#include <vector>

#include "grammar/hash_index.h"
#include "grammar/program.h"

namespace wl::grammar {

struct Frame;
using Stack = std::shared_ptr<const Frame>;  // null: empty

/// A call that will return, or a loop that is running.
struct Frame {
  Frame(int32_t node, uint32_t count, Stack parent);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  int32_t node;    // kCall or kLoop
  uint32_t count;  // finished rounds of the loop, as far as they matter
  uint64_t hash;   // of the whole stack
  Stack parent;
};

bool is_same_stack(const Stack& a, const Stack& b);

/// On a node that takes bytes or a token (kLiteral, kMatch, kToken).
struct Element {
  int32_t node = 0;
  int32_t state = 0;       // kLiteral: bytes taken; kMatch: state of the automaton
  uint32_t num_units = 0;  // kMatch: units begun, as far as they matter
  Stack stack;

  bool operator==(const Element& other) const;
  uint64_t hash() const;
};

struct Frontier {
  std::vector<Element> elements;  // no two equal
  bool is_complete = false;       // the grammar's end is reached
  /// There were more elements than are kept: the grammar is too ambiguous for this text.
  bool has_overflowed = false;
};

/// Makes the frontier of one place in a text: elements are added by entering nodes and by stepping
/// over the byte in front, and every way that takes no text is followed at once.
class FrontierBuilder {
 public:
  explicit FrontierBuilder(const Program& program) : program_(program) {}

  void enter(int32_t node, Stack stack);
  /// What is behind a kMatch element that may end where it stands.
  void leave(const Element& element) { enter(program_.node(element.node).next, element.stack); }
  /// `element` after one byte; nothing when it does not take the byte.
  void step(const Element& element, uint8_t byte);

  Frontier take();

 private:
  struct Step {
    int32_t node;
    Stack stack;
  };
  void run();
  bool is_new(const Step& step);
  void visit(Step step);
  void close_round(const Node& loop, const Stack& stack);
  void add(Element element);
  void add_match(int32_t node, int32_t state, uint32_t num_units, const Stack& stack);

  const Program& program_;
  Frontier frontier_;
  HashIndex element_index_;    // of frontier_.elements
  std::vector<Step> steps_;    // to be visited
  std::vector<Step> visited_;  // since the last take()
  HashIndex visited_index_;
  std::vector<Stack> new_rounds_;  // of loops, begun since the last take()
};

/// A kMatch element's automaton may end where it stands.
bool can_end(const Program& program, const Element& element);
/// Whether bounds let a text of `match` with that many units take the edge.
bool fits(const Program& program, const Node& match, uint32_t num_units, const ByteEdge& edge);

}  // namespace wl::grammar
